"""Live and test shops' requests, mixed: ``python -m tests.drills.modes --orders 10000``.

A gateway stands in the carriers' place and passes on what it is sent; test shops have a sandbox of their own. A live
and a test shop search, check, order and cancel at random, with faults and journeys; then both are reconciled, tracked
and counted. It prints what the carriers were sent, and what of the test shop is in requests, figures, files and slips.
"""

import csv
import io
import logging
import random
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management import call_command

from tests.drills.edges.gateway import Gateway, gateway
from tests.drills.environment import Environment, environment, sandbox, sandbox_settings
from tests.drills.options import read_options
from tests.drills.printing import exit_code, say
from tests.drills.shop import PRODUCTS, RECIPIENT, SENDER, order, pickup
from tests.support.http import call
from tests.support.paths import POINTS, SHIPMENTS
from tests.support.processes import free_port

MARK, LIVE_MARK = "Essai", "Vrai"  # the customers' names
PLACE = f"{POINTS}?zip=69002&city=Lyon&productCode="
FAULTS = ("FAULT RESET", "FAULT 500", "FAULT HTML", "FAULT NO-PDF")
JOURNEYS = ("JOURNEY HOME", "JOURNEY RELAY", "JOURNEY REFUSED")


def open_test_shop() -> str:
    """Make the test shop as an operator does; return its token."""
    from shops.models import Shop

    out = {"stdout": io.StringIO()}
    call_command("create_shop", "Essai", "--test", "--id", "essai", **out)
    Shop.objects.filter(id="essai").update(sender_address=SENDER | {"lastName": MARK})
    for carrier in PRODUCTS:
        call_command("configure_carrier", "essai", carrier, "--all-products", **out)
    call_command("create_token", "essai", stdout=(token := io.StringIO()), stderr=io.StringIO())
    return token.getvalue().strip()


def act(port: int, token: str, name: str, seed: int) -> str:
    """Do one thing of a shop; return how it ended."""
    rng, headers = random.Random(seed), {"Authorization": f"Bearer {token}"}
    carrier = rng.choice(sorted(PRODUCTS))
    reference = rng.choice(FAULTS if rng.random() < 0.04 else JOURNEYS)
    body = order(f"{name}-{seed}", carrier, reference=reference, destinationAddress=RECIPIENT | {"lastName": name})
    if rng.random() < 0.25:
        body |= pickup(carrier)
    if rng.random() < 0.05:
        product = pickup(carrier)["productCode"]
        return f"points {call(port, 'GET', PLACE + product, None, headers).status}"
    if rng.random() < 0.1:
        return f"check {call(port, 'POST', f'{SHIPMENTS}/check', body, headers).status}"
    answer = call(port, "POST", SHIPMENTS, body, headers)
    if answer.status == 201 and rng.random() < 0.1:
        path = f"{SHIPMENTS}/{answer.body['id']}/cancel"
        return f"cancelled {call(port, 'POST', path, None, headers).status}"
    return f"order {answer.outcome}"


def faults_of(env: Environment, recorder: Gateway, sandbox_port: int) -> Iterator[str]:
    """Settle, track and count everything; yield what of the test shop is where it must not be."""
    logging.disable()
    env.end_pauses()
    env.reconcile(1)
    for shop in ("essai", "drill"):
        yield from wrongly_tracked(shop, recorder)
    yield from wrongly_sold(env, recorder, sandbox_port)
    yield from wrongly_counted()
    yield from wrongly_listed()


def wrongly_tracked(shop: str, recorder: Gateway) -> Iterator[str]:
    """Ask about numbers of one shop alone; both sandboxes give out the same."""
    from parcels.models import TrackingNumber
    from shops.db import clock

    before = len(recorder.bodies)
    TrackingNumber.objects.update(due_at=None, leased_until=None)
    few = list(TrackingNumber.objects.filter(shop=shop).values_list("pk", flat=True)[:200])
    TrackingNumber.objects.filter(pk__in=few).update(due_at=clock.now())
    call_command("refresh_tracking", stdout=io.StringIO(), stderr=io.StringIO())
    known = TrackingNumber.objects.filter(pk__in=few, outcome="known").count()
    asked = len(recorder.bodies) - before
    say(f"carriers asked about numbers of {shop}", f"{asked} of {len(few)}, {known} known")
    if not known or (asked == 0) != (shop == "essai"):
        yield f"{asked} questions to the carriers about {len(few)} numbers of {shop}"


def wrongly_sold(env: Environment, recorder: Gateway, sandbox_port: int) -> Iterator[str]:
    from labels.models import ShippingLabel
    from shops.contracts.terms import SANDBOX_ACCOUNT

    ids = set(ShippingLabel.objects.filter(shop="essai").values_list("id", flat=True))
    lives = set(ShippingLabel.objects.filter(shop="drill").values_list("id", flat=True))
    marks = [mark.lower().encode() for mark in (MARK, SANDBOX_ACCOUNT, *ids)]
    sent = b"\n".join(body.lower() for body in recorder.bodies)
    found = [mark for mark in marks if mark in sent]
    say("labels of the test shop, of the live one", f"{len(ids):,}, {len(lives):,}")
    say("requests to the carriers", f"{len(recorder.bodies):,}")
    say("test shop's among them", len(found))
    yield from (f"the carriers were sent {mark!r}" for mark in found)
    if LIVE_MARK.lower().encode() not in sent:
        yield "the recorder has nothing of the live shop"
    sold = {row["reference"] for row in call(sandbox_port, "GET", "/ledger").body}
    billed = {row["reference"] for row in env.ledger()}
    if wrong := (billed & ids) | (sold - ids):
        yield f"sold by the wrong one: {sorted(wrong)[:5]}"
    if missing := set(ShippingLabel.objects.filter(id__in=ids).generated().values_list("id", flat=True)) - sold:
        yield f"not sold by the sandbox: {sorted(missing)[:5]}"


def wrongly_counted() -> Iterator[str]:
    from labels.figures import counting as label_counting
    from labels.figures.models import LabelFigure
    from labels.models import ShippingLabel
    from parcels.figures import counting as parcel_counting
    from parcels.figures.models import ParcelFigure, TrackingFigure
    from parcels.models import Parcel, TrackingNumber

    label_counting.recount()
    parcel_counting.recount()
    figures = ((LabelFigure, "labels"), (ParcelFigure, "parcels"), (TrackingFigure, "followed"))
    counted = [sum(model._default_manager.values_list(name, flat=True)) for model, name in figures]
    expected = [model._default_manager.filter(shop="drill").count() for model in (ShippingLabel, Parcel)]
    followed = TrackingNumber.objects.filter(shop="drill").followed()
    expected.append(followed.values("parcel").distinct().count())
    say("counted labels, parcels, followed", ", ".join(f"{count:,}" for count in counted))
    if counted != expected:
        yield f"counted {counted}, not {expected}"


def wrongly_listed() -> Iterator[str]:
    """Ask for a slip of the test shop's labels, and for the files."""
    from labels.models import DepositSlip, ShippingLabel
    from tests.support.api import logged_in

    staff = logged_in(is_superuser=True)
    labels = ShippingLabel.objects.filter(shop="essai", carrier_code="beta").generated()[:10]
    chosen = {"action": "make_slip", "_selected_action": [label.id for label in labels]}
    staff.post("/admin/labels/shippinglabel/", chosen, follow=True)
    if count := DepositSlip.objects.count():
        yield f"{count} slips"
    for page in ("labels/labelfigure", "labels/shippinglabel", "parcels/parcel", "labels/depositslip", "shops/shop"):
        answer: Any = staff.get(f"/admin/{page}/export.csv")
        text = b"".join(answer.streaming_content).decode()
        count = sum("essai" in row or "TEST Essai" in row for row in csv.reader(io.StringIO(text)))
        say(f"rows in {page}, test shop's", f"{text.count(chr(10)) - 1:,}, {count}")
        if count:
            yield f"{count} rows in {page}"


def main() -> None:
    options = read_options(__doc__, orders=10_000, database="postgresql", seed=6)
    own = free_port()
    with gateway() as recorder, TemporaryDirectory(prefix="drill-") as folder:
        further = {"SANDBOX_URL": f"http://127.0.0.1:{own}", "ALPHA_TRACKING_RATE": 100, "BETA_TRACKING_RATE": 100}
        with (
            environment(options.database, sandbox_settings(recorder.port) | further) as env,
            sandbox(Path(folder), own),
        ):
            recorder.sandbox_port = env.sandbox_port
            tokens = {MARK: open_test_shop(), LIVE_MARK: env.token}
            rng = random.Random(options.seed)
            names = [rng.choice(sorted(tokens)) for _ in range(options.orders)]
            with env.served() as (port, _), ThreadPoolExecutor(4) as pool:
                ends = Counter(
                    f"{name} {end}"
                    for name, end in zip(
                        names,
                        pool.map(lambda job: act(port, tokens[job[1]], job[1], job[0]), enumerate(names)),
                        strict=True,
                    )
                )
            for end, count in sorted(ends.items()):
                say(end, f"{count:,}")
            faults = list(faults_of(env, recorder, own))
    say("faults", len(faults))
    sys.exit(exit_code(faults))


if __name__ == "__main__":
    main()
