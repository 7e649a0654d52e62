"""The sentences of the design that hold of parcels, their numbers and the deliveries, whatever happens."""

import base64
import hashlib
import hmac
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from tests.models import product
from tests.models.parcel_world import SHARED, Endpoint, Label, Shop, World
from tests.models.statuses import FINAL, STATUS_OF, Step, derive, has_moved
from tests.shops.webhooks.receivers import Received

Json = dict[str, Any]
OVERLAP_S, UNKNOWN_S, FETCHED_BACK_S = 24 * 3600, 14 * 86_400, 2 * 86_400


class Oracle:
    """Checks a world after each step, and more once everything has settled."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.holders: dict[str, set[str | None]] = {}
        self.found: dict[str, str | None] = {}  # by each number
        self.bodies: dict[str, Json] = {}
        self.seen: dict[str, set[tuple[int, str]]] = defaultdict(set)  # of each number: the events once shown
        self.imported: set[str] = set()  # ids that the step imports

    def check(self, imported: Iterable[str] = ()) -> None:
        self.imported = {*imported}
        self.world.note_states()
        for shop in self.world.shops:
            shown = self.check_numbers(shop)
            for parcel_id, body in shown.items():
                self.check_body(shop, parcel_id, body)
            shop.touched.clear()
        self.imported = set()

    # --- Looking up ---

    def check_numbers(self, shop: Shop) -> dict[str, Json]:
        """A look-up by each number gives the parcel that has it; return all that are found."""
        shown: dict[str, Json] = {}
        for number in shop.numbers():
            body = self.world.get(shop, number)
            found: str | None = body["id"] if body else None
            self.found[number] = found
            owners = self.owners(shop, number)
            assert found in owners, f"{number} finds {found}, and is on {sorted(map(str, owners))}"
            self.holders[number] = {found, *shop.namers(number)}
            if body and found:
                assert shown.setdefault(found, body) == body, f"{found} is told in two ways"
        return shown

    def owners(self, shop: Shop, number: str) -> set[str | None]:
        """Return the ids that a look-up may give: one, but where the design leaves it open."""
        label, namers = shop.label_with(number), shop.namers(number)
        if namers:
            return {namers[0]}
        if label is None or label.state == "open":
            return {None}
        if not label.was_imported:
            return self.own_parcel(shop, label)
        if label.state == "cancelled":
            return {None}
        before = (self.holders.get(number, set()) | shop.touched[number]) - {None, label.id}
        others = {each for other in label.numbers for each in (*shop.namers(other), *shop.touched[other])} | before
        if label.state == "cancelling":
            others |= {None}
        return before if before and label.is_sold() else others or {None}

    def own_parcel(self, shop: Shop, label: Label) -> set[str | None]:
        """Return what a label's numbers give that no import has named: the label's parcel, unless it is withdrawn."""
        known = [event for number in label.numbers for event in self.seen[number]]
        if label.is_sold() or has_moved(known):
            return {label.id, None} if label.was_imported and not label.is_sold() else {label.id}
        told = any(self.world.carriers.events[number] for number in label.numbers)
        return {label.id, None} if told else {None}

    # --- A parcel ---

    def check_body(self, shop: Shop, parcel_id: str, body: Json) -> None:
        numbers = {body["trackingId"], *body["trackingNumbers"]}
        assert body["shopId"] == shop.id
        self.check_its_numbers(shop, parcel_id, numbers)
        events = self.events_of(body, numbers)
        for number, told in events.items():
            assert told == sorted({*told}), f"{parcel_id} tells an event of {number} twice"
            if shop.label_with(number):
                if self.found[number] != parcel_id:
                    continue  # it is asked about by itself, and may know more
                gone = self.seen[number] - {*told}
                assert not gone, f"{parcel_id} has forgotten {gone} of {number}"
            self.seen[number] |= {*told}
        self.check_status(shop, parcel_id, body, events)
        self.check_updated_at(parcel_id, body)

    def check_its_numbers(self, shop: Shop, parcel_id: str, numbers: set[str]) -> None:
        line = shop.lines.get(parcel_id)
        if line is None:
            return
        for number in {*numbers, *shop.numbers()}:
            label = shop.label_with(number)
            is_named = number in line.numbers
            is_added = bool(label) and not shop.namers(number) and parcel_id in self.holders[number]
            if label and label.state == "cancelling" and not is_named:
                continue
            is_on = is_named or (is_added and label is not None and label.is_sold())
            assert (number in numbers) == is_on, f"{number} is {'' if is_on else 'not '}one of {parcel_id}: {numbers}"

    def events_of(self, body: Json, numbers: set[str]) -> dict[str, list[tuple[int, str]]]:
        events: dict[str, list[tuple[int, str]]] = {number: [] for number in numbers}
        times = [event["createdAt"] for event in body["events"]]
        assert times == sorted(times, reverse=True), "newest first"
        for event in body["events"]:
            number, code = self.world.carriers.number_at[event["createdAt"]]
            assert event["carrierStatusCode"] == code
            assert number in numbers, f"{body['id']} tells of {number}, which it has not"
            events[number].append((event["createdAt"], code))
        return {number: sorted(told) for number, told in events.items()}

    def check_status(self, shop: Shop, parcel_id: str, body: Json, events: dict[str, list[tuple[int, str]]]) -> None:
        steps = list(self.derived(shop, parcel_id, events))
        statuses = [step and step.status for step in steps]
        assert body["lastStatus"] in statuses, f"{parcel_id} is {body['lastStatus']}, and its numbers say {statuses}"
        delivered = [step.at if step and step.is_carrier and step.status == "DELIVERED" else None for step in steps]
        if len(steps) == 1:
            assert body["deliveryDate"] == delivered[0], f"{parcel_id} was delivered at {delivered[0]}"

    def derived(self, shop: Shop, parcel_id: str, events: dict[str, list[tuple[int, str]]]) -> Iterator[Step | None]:
        """Yield the status that its numbers tell, and others where the design leaves open which numbers count."""
        report = shop.reports.get(parcel_id)
        labels = {number: label for number in events if (label := shop.label_with(number))}
        sold = {number for number, label in labels.items() if label.is_sold()}
        off = {number for number, label in labels.items() if label.state == "cancelled"}
        maybe = {number for number, label in labels.items() if label.state == "cancelling"}
        counted = {number: told for number, told in events.items() if number not in off}
        yield derive(counted if any(counted.values()) or sold else events, sold, report)
        if elsewhere := {number for number in sold if self.found[number] != parcel_id}:
            yield derive(counted, sold - elsewhere, report)
        if maybe or any(has_moved(events[number]) for number in off):
            yield derive(events, sold, report)
            yield derive(events, sold | maybe, report)
            yield derive({number: told for number, told in counted.items() if number not in maybe}, sold, report)

    def check_updated_at(self, parcel_id: str, body: Json) -> None:
        """`updatedAt` moves with the body, and with nothing else but an import."""
        before, now = self.bodies.get(parcel_id), body
        self.bodies[parcel_id] = body
        if before is None:
            return
        has_changed = before | {"updatedAt": 0} != now | {"updatedAt": 0}
        changed = [name for name in now if now[name] != before[name]]
        if has_changed:
            assert now["updatedAt"] > before["updatedAt"], f"{parcel_id} is another, and not its updatedAt: {changed}"
        elif parcel_id not in self.imported:
            assert now["updatedAt"] == before["updatedAt"], f"{parcel_id} is the same, and its updatedAt is not"

    def check_answered(self, shop: Shop, answered: Iterable[str]) -> None:
        """A carrier's answer is shown."""
        for number in {*answered}.intersection(shop.numbers()) - {SHARED}:
            body = self.world.get(shop, number)
            if body is not None and len(shop.namers(number)) < 2:
                numbers = {body["trackingId"], *body["trackingNumbers"]}
                told = self.events_of(body, numbers)[number]
                truth = self.world.carriers.events[number]
                assert told == truth, f"{number} was asked about, and {body['id']} tells {told}, not {truth}"

    # --- Deliveries ---

    def check_told(self, shop: Shop, endpoint: Endpoint, *, is_drained: bool) -> None:
        """Each change of a status is told once, in order; with nothing left to send, the last one is today's."""
        self.check_signatures(endpoint)
        self.check_once(endpoint)
        told: dict[str, str | None] = {}
        for received in endpoint.taken:
            if received.content["type"] == "parcel.status_changed":
                self.check_change(received.data, told, is_late=endpoint.may_be_late)
        if is_drained:
            for parcel_id, body in self.shown(shop).items():
                last = told.get(parcel_id)
                assert last == body["lastStatus"], f"{parcel_id} is {body['lastStatus']}, and {last} was told last"

    def check_change(self, data: Json, told: dict[str, str | None], *, is_late: bool) -> None:
        before = told.get(data["id"])
        if not is_late:
            change = f"from {data['previousStatus']} to {data['status']}"
            assert data["previousStatus"] == before, f"{data['id']}: {change} is told after {before}"
        assert data["previousStatus"] != data["status"]
        told[data["id"]] = data["status"]

    def shown(self, shop: Shop) -> dict[str, Json]:
        bodies = [body for number in shop.numbers() if (body := self.world.get(shop, number))]
        return {body["id"]: body for body in bodies}

    def check_once(self, endpoint: Endpoint) -> None:
        taken = [each.id for each in endpoint.receiver.received if each.status == 200]
        if not (self.world.was_killed or endpoint.may_be_late):
            assert len(taken) == len({*taken}), "an event that was taken is sent again"

    def check_signatures(self, endpoint: Endpoint) -> None:
        """Each request since the last check is signed with every secret that is good now."""
        for received in endpoint.receiver.received[endpoint.checked :]:
            for secret, replaced_at_s in endpoint.secrets:
                if self.world.now_s < replaced_at_s + OVERLAP_S - 60:
                    assert is_signed(received, secret), "a secret is refused within its 24 hours"
        endpoint.checked = len(endpoint.receiver.received)

    def check_same(self, shop: Shop) -> None:
        """Both endpoints of a shop have got the same."""
        steady, moody = ({each.id: each for each in one.taken} for one in (shop.steady, shop.moody))
        missing = [each.content for key, each in steady.items() if key not in moody]
        missing = [each for each in missing if each["type"] not in {"webhook.test", "webhook.disabled"}]
        assert not missing, f"an endpoint that works again waits for {len(missing)}: {missing[:2]}"

    # --- Erasure and isolation ---

    def check_erased(self) -> None:
        kept = product.everything()
        for shop in self.world.shops:
            for needle in shop.erased:
                assert needle not in kept, f"{needle} was erased: {around(kept, needle)}"

    def check_isolated(self) -> None:
        one, other = self.world.shops
        for shop, stranger in ((one, other), (other, one)):
            for number in {*shop.numbers()} - {*stranger.numbers()}:
                assert self.world.get(stranger, number) is None, f"another shop sees {number}"
            for parcel_id in shop.ids:
                found = json.loads(stranger.caller.search(orderName=f"#{parcel_id}").content)
                assert found == [], f"another shop finds {parcel_id}"

    # --- At the end ---

    def check_learned(self) -> None:
        """All that the carriers know by now is shown, of all numbers that are asked about."""
        for shop in self.world.shops:
            for parcel_id, body in self.shown(shop).items():
                numbers = {body["trackingId"], *body["trackingNumbers"]}
                told = self.events_of(body, numbers)
                if (report := shop.reports.get(parcel_id)) and report[1] in FINAL:
                    continue  # the shop says that it is over
                is_over = body["lastStatus"] in FINAL
                asked = [each for each in numbers if told[each] or (not is_over and self.is_asked(shop, body, each))]
                # What is told beyond that was heard of when the number was asked about for another parcel's sake.
                truth = {number: sorted({*told[number], *self.learnable(number)}) for number in asked}
                expected = [step and step.status for step in self.derived(shop, parcel_id, told | truth)]
                problem = f"{parcel_id} is {body['lastStatus']} for ever, and its carriers say {expected}"
                assert body["lastStatus"] in expected, problem

    def is_asked(self, shop: Shop, body: Json, number: str) -> bool:
        """A number that was sold is asked about for long, another one for 15 days if it stays unknown."""
        if label := shop.label_with(number):
            return label.is_sold()
        line = shop.lines.get(body["id"])
        return line is not None and self.world.now_s - line.since_s.get(number, 0) < UNKNOWN_S

    def learnable(self, number: str) -> list[tuple[int, str]]:
        """Leave out what happened long after the delivery: it is not asked about for ever."""
        happened_s, told = self.world.carriers.happened_s, self.world.carriers.events[number]
        delivered_s = min((happened_s[number, code] for _, code in told if STATUS_OF[code] in FINAL), default=None)
        if delivered_s is None:
            return told
        return [each for each in told if happened_s[number, each[1]] < delivered_s + FETCHED_BACK_S]


def is_signed(received: Received, secret: str) -> bool:
    """Verify as Standard Webhooks says."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{received.id}.{received.headers['webhook-timestamp']}.".encode() + received.body
    signature = base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    return f"v1,{signature}" in received.headers["webhook-signature"].split()


def around(text: str, needle: str) -> str:
    place = text.index(needle)
    return text[max(0, place - 80) : place + 80]
