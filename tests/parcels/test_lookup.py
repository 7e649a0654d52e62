"""Look-up by tracking number (specification 4.1)."""

from tests.conftest import Caller
from tests.factories import import_parcel


def test_a_parcel_is_answered_whole_in_the_order_of_the_specification(own: Caller) -> None:
    parcel = import_parcel(own.shop)
    response = own.look_up(parcel["trackingId"])
    assert response.status_code == 200
    assert response.json() == parcel
    assert list(response.json()) == list(parcel)
