"""Events by cursor under load: ``python -m tests.drills.webhooks.events [--events N] [--writers N] [--database D]``.

Writers commit some events a transaction, in another order than they began, while a shop reads from place to place.
Every event must be read once, and those of one subject in order. It prints the rates of writing and of reading.
"""

import random
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.drills.environment import environment
from tests.drills.forks import close_connections
from tests.drills.options import read_options
from tests.drills.printing import exit_code, print_table
from tests.drills.webhooks import world

SHOP = "reader"
PAGE, OF_TRANSACTION, SUBJECTS = 500, 10, 3
Seen = list[tuple[str, str]]


def main() -> None:
    options = read_options(__doc__, events=100_000, writers=8, database="postgresql")
    with environment(options.database, world.SETTINGS):
        from shops.models import Shop

        Shop.objects.create(id=SHOP, name=SHOP)
        each_writes = options.events // options.writers
        with ThreadPoolExecutor(options.writers + 1) as pool:
            started_s = time.monotonic()
            reading = pool.submit(read, each_writes * options.writers)
            list(pool.map(write, range(options.writers), [each_writes] * options.writers))
            written_s = time.monotonic() - started_s
            beside = reading.result()
        started_s = time.monotonic()
        alone = read(each_writes * options.writers)
        read_s = time.monotonic() - started_s
        close_connections()
    count = each_writes * options.writers
    rates = [f"{count / written_s:.0f}", f"{count / read_s:.0f}"]
    print_table(["events", "written a second, with a reader", "read a second, alone"], [[str(count), *rates]])
    sys.exit(exit_code([*faults("beside", beside, count), *faults("alone", alone, count)]))


def write(writer: int, count: int) -> None:
    """Write events, those of each subject numbered; now and then another transaction ends before."""
    from django.db import connection, transaction

    chance = random.Random(writer)
    numbers: Counter[str] = Counter()
    for _ in range(count // OF_TRANSACTION):
        with transaction.atomic():
            for _ in range(OF_TRANSACTION):
                subject = f"{writer}-{chance.randrange(SUBJECTS)}"
                world.tell(SHOP, subject, numbers[subject])
                numbers[subject] += 1
            if chance.random() < 0.1:
                time.sleep(0.01)
    connection.close()


def read(count: int) -> Seen:
    """Read from place to place until so many have come; give up when none comes for long."""
    from django.db import connection

    from shops.webhooks import feed

    seen: Seen = []
    place, latest_s = "", time.monotonic()
    while len(seen) < count and time.monotonic() < latest_s + 20:
        found = feed.read(shop_id=SHOP, after=place, event_type="", limit=PAGE)
        seen += [(each.subject, each.data["code"]) for each in found.events]
        place = found.next
        if found.events:
            latest_s = time.monotonic()
        else:
            time.sleep(0.01)
    connection.close()
    return seen


def faults(name: str, seen: Seen, count: int) -> list[str]:
    doubled = len(seen) - len(set(seen))
    late: dict[str, int] = {}
    out_of_order = 0
    for subject, number in seen:
        out_of_order += int(number) < late.get(subject, 0)
        late[subject] = int(number)
    told = {"skipped": count - len(set(seen)), "doubled": doubled, "out of order": out_of_order}
    print(f"{name}: " + ", ".join(f"{number} {what}" for what, number in told.items()))
    return [f"{name}: {number} {what}" for what, number in told.items() if number]


if __name__ == "__main__":
    main()
