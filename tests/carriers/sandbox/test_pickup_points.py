"""The directory of pickup points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carriers.sandbox.countries import COUNTRIES, is_postal_code_of
from carriers.sandbox.pickup_points import POINTS
from tests.carriers.sandbox.control import get

if TYPE_CHECKING:
    from carriers.sandbox.server import SandboxServer


def test_some_sixty_points_of_every_kind_are_known() -> None:
    assert 55 <= len(POINTS) <= 70
    assert len({(point.carrier, point.code) for point in POINTS}) == len(POINTS)
    assert {point.kind for point in POINTS} == {"relay", "locker", "post_office", "carrier_site"}
    assert {point.status for point in POINTS} == {"open", "holiday", "holiday_later", "inactive", "full"}
    assert all(point.country in COUNTRIES for point in POINTS)
    assert all(is_postal_code_of(point.country, point.zip_code) for point in POINTS)
    assert all(len(point.address1) <= 35 and len(point.name) <= 35 for point in POINTS)


def test_the_directory_is_listed_with_filters(sandbox: SandboxServer) -> None:
    assert len(get(f"{sandbox.url}/points")) == len(POINTS)
    closed = get(f"{sandbox.url}/points", carrier="alpha", country="DE", status="holiday")
    assert [(point["code"], point["is_open"]) for point in closed] == [("7002D", False)]
