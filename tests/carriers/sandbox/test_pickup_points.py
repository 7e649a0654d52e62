"""The directory of pickup points."""

from carriers.sandbox.countries import COUNTRIES, is_postal_code_of
from carriers.sandbox.pickup_points import POINTS
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.control import get


def test_some_two_thousand_points_of_every_kind_are_known() -> None:
    assert 2000 <= len(POINTS) <= 2300
    assert len({(point.carrier, point.code) for point in POINTS}) == len(POINTS)
    assert {point.kind for point in POINTS} == {"relay", "locker", "post_office", "carrier_site", ""}
    assert {point.status for point in POINTS} == {"open", "holiday", "holiday_later", "inactive", "full"}
    assert all(point.country in COUNTRIES for point in POINTS)
    assert all(is_postal_code_of(point.country, point.zip_code) for point in POINTS)
    assert [point.code for point in POINTS if not (point.name and point.kind)] == ["300559", "300560"]
    assert {"FR", "BE", "DE", "ES", "NL", "LU", "RE", "GP"} <= {point.country for point in POINTS}
    assert all(len(point.address1) <= 35 and len(point.name) <= 35 for point in POINTS)


def test_the_directory_is_listed_with_filters(sandbox: SandboxServer) -> None:
    assert len(get(f"{sandbox.url}/points")) == len(POINTS)
    closed = get(f"{sandbox.url}/points", carrier="alpha", country="DE", status="holiday")
    assert ("7002D", False) in [(point["code"], point["is_open"]) for point in closed]
    assert {point["status"] for point in closed} == {"holiday"}
