"""Calm traffic: two instances of the service and one of `work`, with what goes wrong on any good day."""

from collections.abc import Iterable

from deploy.monitoring.causes import SERVICE, WORK
from deploy.monitoring.timelines import HOUR, Series, Timeline, series

HOSTS = {"service-1": SERVICE, "service-2": SERVICE, "work-1": WORK}
SERVICES = [host for host, job in HOSTS.items() if job == SERVICE]
CARRIERS = ("alpha", "beta")
DURATION = "http_request_duration_seconds"
OPERATIONS = {"alpha": "shippingMultiParcelV4", "beta": "generateLabel"}
# Requests in 30 s, of which as many took at most 50 ms.
LOOK_UPS = {"parcel 200": (300, 299), "parcel 404": (7, 7), "parcel 429": (2, 2), "parcel-search 200": (60, 59)}
ORDERS = {"labels 201": 12, "labels 400": 1}


def calm(steps: int) -> Timeline:
    """Traffic without ups and downs."""
    return {each: [value] * steps for each, value in everything()}


def everything() -> Iterable[tuple[Series, float]]:
    for host, job in HOSTS.items():
        at = {"instance": host, "job": job}
        yield series("up", **at), 1
        yield series("labels_interrupted_oldest_seconds", **at), 0
        yield series("host_clock_offset_seconds", **at), 0.01
        for reason in ("no room", "not written"):
            yield series("log_lines_dropped_total", reason=reason, **at), 0
        for carrier in CARRIERS:
            yield series("label_rows_vanished_total", carrier=carrier, **at), 0
            yield series("labels_unrecorded_total", carrier=carrier, **at), 0
            yield from breakers(carrier, "shipping" if job == SERVICE else "tracking", at)
        yield from (served if job == SERVICE else worked)(at)
    yield from waiting({"instance": SERVICES[0], "job": SERVICE})


def breakers(carrier: str, service: str, at: dict[str, str]) -> Iterable[tuple[Series, float]]:
    labels = {"carrier": carrier, "service": service, **at}
    for state in ("closed", "open", "half-open"):
        yield series("carrier_circuit_breaker", state=state, **labels), 2 * (state == "closed")


def served(at: dict[str, str]) -> Iterable[tuple[Series, float]]:
    for name, (count, fast) in LOOK_UPS.items():
        route, status = name.split()
        labels = {"route": route, "method": "GET", "status": status, **at}
        yield series(f"{DURATION}_count", **labels), count
        yield series(f"{DURATION}_bucket", le="0.05", **labels), fast
    for name, count in ORDERS.items():
        route, status = name.split()
        yield series(f"{DURATION}_count", route=route, method="POST", status=status, **at), count
    for carrier in CARRIERS:
        call = {"carrier": carrier, "operation": OPERATIONS[carrier], **at}
        yield series("carrier_call_duration_seconds_count", outcome="ok", **call), 6
        yield series("carrier_call_duration_seconds_count", outcome="credentials_rejected", **call), 0
        for state in ("label_generated", "failed", "unknown", "received"):
            count = 6 * (state == "label_generated")
            yield series("label_purchases_total", carrier=carrier, state=state, **at), count
    for route in ("parcel", "parcel-search"):
        yield series("fast_path_failures_total", route=route, **at), 0
    yield series("rate_limit_refusals_total", group="shop", **at), 2
    yield series("rate_limit_stand_in_total", group="shop", **at), 0


def worked(at: dict[str, str]) -> Iterable[tuple[Series, float]]:
    for carrier in CARRIERS:
        for outcome, count in {"known": 55, "unknown": 4, "unavailable": 0}.items():
            yield series("tracking_parcels_asked_total", carrier=carrier, outcome=outcome, **at), count
        yield series("tracking_refused_contracts_total", carrier=carrier, **at), 0
        yield series("tracking_unlisted_events_total", carrier=carrier, **at), 0
    yield series("webhook_attempt_duration_seconds_count", outcome="delivered", **at), 20
    yield series("webhook_attempt_duration_seconds_count", outcome="http_5xx", **at), 1


def waiting(at: dict[str, str]) -> Iterable[tuple[Series, float]]:
    """The gauges from the database. One endpoint fails; what it was not delivered waits for its next attempt."""
    for state in ("unknown", "incomplete", "cancelling"):
        yield series("labels_to_decide", state=state, **at), 0
    for state in ("purchasing", "received", "unknown", "cancelling"):
        yield series("labels_interrupted", state=state, **at), 0
    for carrier in CARRIERS:
        yield series("tracking_oldest_due_seconds", carrier=carrier, **at), 4
    for name, value in {"oldest_due_seconds": 0.5, "endpoints_active": 8, "endpoints_failing": 1}.items():
        yield series(f"webhook_{name}", **at), value
    for name, value in {"deliveries_queued": 40, "deliveries_oldest_seconds": 7200, "endpoints_disabled": 0}.items():
        yield series(f"webhook_{name}", **at), value


# Of the day's peak, in each hour.
SHAPE = (0.1, 0.05, 0.05, 0.05, 0.05, 0.1, 0.2, 0.4, 0.7, 0.9, 1, 1, 0.8, 0.9, 1, 1, 0.9, 0.9, 1, 1, 0.9, 0.6, 0.4, 0.2)


def calm_day() -> Timeline:
    """24 hours: a carrier's 502 each hour, one error of ours, one outcome unknown for an hour, a rolling upgrade."""
    steps = HOUR * len(SHAPE)
    day = calm(steps)
    for each, values in day.items():
        if each.is_counter:
            day[each] = [value and round(value * SHAPE[step // HOUR]) for step, value in enumerate(values)]
    first = {"instance": SERVICES[0], "job": SERVICE}
    add(day, series(f"{DURATION}_count", route="labels", method="POST", status="502", **first), range(60, steps, HOUR))
    add(day, series(f"{DURATION}_count", route="parcel", method="GET", status="500", **first), [14 * HOUR])
    add(day, series("label_purchases_total", carrier="alpha", state="unknown", **first), [9 * HOUR])
    add(day, series("labels_to_decide", state="unknown", **first), range(9 * HOUR, 10 * HOUR + 10))
    add(day, series("webhook_oldest_due_seconds", **first), range(7, steps, 50), 12)
    add(day, series("tracking_oldest_due_seconds", carrier="alpha", **first), range(11 * HOUR, 12 * HOUR), 600)
    for index, host in enumerate(HOSTS):
        upgrade(day, host, 12 * HOUR + 10 * index)
    return day


def add(timeline: Timeline, each: Series, at: Iterable[int], value: float = 1) -> None:
    steps = len(next(iter(timeline.values())))
    values = timeline.setdefault(each, [0] * steps)
    for step in at:
        values[step] = (values[step] or 0) + value


def upgrade(timeline: Timeline, host: str, at: int) -> None:
    """The host is away for one scrape; its counters begin again."""
    for each, values in timeline.items():
        if ("instance", host) in each.labels:
            values[at] = 0 if each.metric == "up" else None
