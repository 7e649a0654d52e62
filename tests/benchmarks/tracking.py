"""The tracking benchmark: ``python -m tests.benchmarks.tracking [--parcels N] [--due N] [--processes N]``.

`work` asks a stub that answers at once, with a limit it can't reach, on a PostgreSQL of its own (fsync is off, as in
the tests' servers). All parcels are in flight; `--due` of them are due, in two rounds: in the first each answer brings
news, in the second every fourth, as at the cadence of the service. The calls a second and the CPU time of a poll say
how many parcels two cores can follow at that cadence.
"""

import argparse
import time
from contextlib import ExitStack

from django.db.models.functions import Now

from tests.drills.environment import Environment, tracking_settings
from tests.drills.harness import play
from tests.drills.printing import timed
from tests.drills.process import metered
from tests.drills.shop import SHOP
from tests.drills.sql import execute
from tests.drills.tracking import stub
from tests.support.waiting import until

DAY_S = 86_400
# Of a parcel of three days: 12 polls in transit a day, 4 to 6 while announced or waiting, 28 on the day of delivery.
POLLS_A_DAY = (6, 12)
CORES = 2
FILL_PARCELS = """
    INSERT INTO parcels_parcel (id, shop_id, order_id, order_number, tracking_id, tracking_numbers, carrier_code,
        carrier_product, destination, line_items, events, created_at, updated_at, customer_email, previous_emails,
        cross_sell_recommendations, is_withdrawn, search_words)
    SELECT 'P' || n, %(shop)s, 'o' || n, '#' || n, number, '["' || number || '"]', carrier, 'product',
        '{"firstName":"Zoe","lastName":"Lefevre","address1":"3 rue de l Eglise","city":"Lyon","zip":"69002"}',
        '[{"lineItemId":"li","name":"Carnet","quantity":2,"price":9.95}]', '[]', %(created_ms)s, %(created_ms)s,
        'customer' || n || '@example.com', '[]', '[]', false, ''
    FROM (SELECT n, CASE n %% 2 WHEN 0 THEN 'alpha' ELSE 'beta' END AS carrier,
        CASE n %% 2 WHEN 0 THEN 'XU' ELSE '6A' END || lpad(n::text, 11, '0') AS number
        FROM generate_series(1, %(count)s) AS n) AS numbered
"""
FILL_NUMBERS = """
    INSERT INTO parcels_parcelnumber (shop_id, number, parcel_id, created_at, carrier_code, followed_since, due_at)
    SELECT shop_id, tracking_id, id, created_at, carrier_code, now() - interval '2 days',
        now() + interval '1 hour' + random() * interval '6 hours' FROM parcels_parcel
"""
MAKE_DUE = """
    UPDATE parcels_parcelnumber SET due_at = now() - interval '1 second' * random()
    WHERE parcel_id IN (SELECT 'P' || n FROM generate_series(1, %s) AS n)
"""


def settings(options: argparse.Namespace) -> dict[str, object]:
    rates = {"ALPHA_TRACKING_RATE": 5000, "BETA_TRACKING_RATE": 5000}
    return tracking_settings() | rates | {"TRACKING_CONCURRENCY": options.threads}


def benchmark(env: Environment, options: argparse.Namespace) -> None:
    with stub(env, step_asks=4):
        fill(options.parcels)
        for name in ("every answer brings news", "every fourth answer brings news"):
            measure(env, name, options)


def fill(count: int) -> None:
    created_ms = int((time.time() - 2.5 * DAY_S) * 1000)
    with timed(f"{count} parcels in flight, made"):
        execute(FILL_PARCELS, {"shop": SHOP, "created_ms": created_ms, "count": count})
        execute(FILL_NUMBERS)
        execute("ANALYZE")


def measure(env: Environment, name: str, options: argparse.Namespace) -> None:
    """Let parcels become due, and time the processes until they have been asked about."""
    execute(MAKE_DUE, [options.due])
    execute("VACUUM ANALYZE parcels_parcelnumber")
    with ExitStack() as stack:
        workers = [stack.enter_context(env.working(f"work{number}.log")) for number in range(options.processes)]
        until(lambda: left() < options.due)  # they have started
        before = left()
        with metered(env.postmaster, *(each.pid for each in workers)) as used:
            until(lambda: left() == 0, timeout_s=1800)
    took_s, server_s, *own_s = used
    report(name, before, took_s, sum(own_s), server_s)


def report(name: str, polls: int, took_s: float, own_s: float, server_s: float) -> None:
    a_poll_s = (own_s + server_s) / polls
    sustained = CORES / a_poll_s
    print(f"{name}: {polls} polls in {took_s:.1f} s, {polls / took_s:.0f} a second")
    print(f"  CPU a poll: work {own_s / polls * 1000:.2f} ms, PostgreSQL {server_s / polls * 1000:.2f} ms")
    print(f"  {CORES} cores: {sustained:.0f} polls a second, {sustained * DAY_S / 1e6:.1f} million a day")
    for polls_a_day in POLLS_A_DAY:
        print(
            f"  at {polls_a_day} polls a day: {sustained * DAY_S / polls_a_day / 1e6:.2f} million parcels", flush=True
        )


def left() -> int:
    """Count the numbers that are still due."""
    from parcels.models import TrackingNumber

    return TrackingNumber.objects.filter(due_at__lte=Now()).count()


if __name__ == "__main__":
    play(benchmark, settings, parcels=200_000, due=20_000, processes=1, threads=4)
