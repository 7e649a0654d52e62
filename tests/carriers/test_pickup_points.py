"""The answers of point services that a process remembers."""

from datetime import date, datetime, timedelta

import pytest

from carriers import pickup_points
from carriers.errors import CarrierUnavailable, PickupPointRejected
from carriers.pickup_points import FRESH_S, PickupPointCache
from carriers.products import PARIS
from carriers.shipment import PickupPoint
from tests.carriers.conftest import Serve, SetTime
from tests.carriers.support.beta import found
from tests.carriers.support.points import alpha_point
from tests.carriers.support.servers import LABEL, always, http
from tests.carriers.support.shipments import BOTH, CREDENTIALS, client, shipment

KEY = ("FR", "1234A")
POINT = PickupPoint("1234A")
TODAY = date(2026, 3, 2)
TOMORROW = date(2026, 3, 3)


class Clock:
    """Time that a test sets."""

    now_s = 1_000_000.0

    def monotonic(self) -> float:
        return self.now_s


def down() -> PickupPoint:
    raise CarrierUnavailable("alpha", "down")


def gone() -> PickupPoint:
    raise PickupPointRejected("alpha", "is unknown")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(pickup_points, "time", made)
    return made


def test_an_answer_serves_for_an_hour_and_stands_in_for_a_service_that_is_down(clock: Clock) -> None:
    cache = PickupPointCache()
    assert cache.get(KEY, TODAY, lambda: POINT) is POINT
    clock.now_s += FRESH_S - 1
    assert cache.get(KEY, TODAY, gone) is POINT  # not asked
    clock.now_s += 2
    assert cache.get(KEY, TODAY, down) is POINT
    with pytest.raises(PickupPointRejected):
        cache.get(KEY, TODAY, gone)


def test_an_answer_about_another_day_only_stands_in(clock: Clock) -> None:
    cache = PickupPointCache()
    cache.get(KEY, TODAY, lambda: POINT)
    assert cache.get(KEY, TOMORROW, down) is POINT
    with pytest.raises(PickupPointRejected):
        cache.get(KEY, TOMORROW, gone)


def test_without_an_answer_a_service_that_is_down_is_an_error(clock: Clock) -> None:
    with pytest.raises(CarrierUnavailable):
        PickupPointCache().get(KEY, TODAY, down)


# A point that closes at midnight

MIDNIGHT = datetime(2026, 3, 3, tzinfo=PARIS)
HOLIDAY = "<calendarDeDebut>2026-03-03T00:00:00+01:00</calendarDeDebut><calendarDeFin>2026-03-09</calendarDeFin>"
CLOSING = {
    "alpha": http(
        alpha_point().replace(
            b"</listePointRelais>",
            f"<listePeriodeFermeture>{HOLIDAY}</listePeriodeFermeture></listePointRelais>".encode(),
        )
    ),
    "beta": found(
        listeConges=[
            {
                "numero": 1,
                "calendarDeDebut": int(MIDNIGHT.timestamp() * 1000),
                "calendarDeFin": int((MIDNIGHT + timedelta(days=6)).timestamp() * 1000),
            }
        ]
    ),
}
DOWN = http(b"<html>", 503, "text/html")
PICKUP = {"alpha": "relais", "beta": "beta_point_retrait_france"}


@BOTH
@pytest.mark.parametrize("is_down", [False, True])
def test_a_point_that_closes_at_midnight_is_bought_before_it_and_not_after(
    serve: Serve, at: SetTime, carrier: str, is_down: bool
) -> None:
    points = serve(always(CLOSING[carrier], DOWN if is_down else CLOSING[carrier]))
    buyer = client(carrier, serve(always(LABEL[carrier])).url, points_url=points.url)
    at(MIDNIGHT - timedelta(minutes=2))
    buyer.create_label(shipment(PICKUP[carrier]), CREDENTIALS[carrier])
    at(MIDNIGHT + timedelta(minutes=3))
    with pytest.raises(PickupPointRejected, match="is closed"):
        buyer.create_label(shipment(PICKUP[carrier]), CREDENTIALS[carrier])


@BOTH
def test_a_point_that_will_be_closed_on_the_day_of_dispatch_is_not_bought_today(
    serve: Serve, at: SetTime, carrier: str
) -> None:
    points = serve(always(CLOSING[carrier]))
    buyer = client(carrier, serve(always(LABEL[carrier])).url, points_url=points.url)
    at(MIDNIGHT - timedelta(hours=9))
    buyer.create_label(shipment(PICKUP[carrier]), CREDENTIALS[carrier])
    with pytest.raises(PickupPointRejected, match="is closed"):
        buyer.create_label(shipment(PICKUP[carrier], ship_on=TOMORROW), CREDENTIALS[carrier])
