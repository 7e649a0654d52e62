"""The compiled validation of imports against the serializer that it is compiled from."""

import copy
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.serializers import ValidationError

from parcels.importing.reading import SERIALIZER, read_parcel
from parcels.samples import sample_parcels
from shops.api.compiled import RefusedError

pytestmark = pytest.mark.any_database

SAMPLES = list(sample_parcels(20, now_ms=time.time_ns() // 10**6))
LEFT_OUT = object()
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.sampled_from(
        ["", "a\0b", "FR", "fr", "+33 1 23 45 67 89", "DELIVERED", "https://example.com/a", "x" * 256, "x" * 1001]
    ),
)
VALUES = st.one_of(
    st.just(LEFT_OUT), SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.text(max_size=3), SCALARS, max_size=2)
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each place inside a JSON value: its holder, and its name or index there."""
    for step in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, step
        yield from places(value[step])


def outcome(read: Any, value: Any) -> Any:
    try:
        return read(value)
    except (ValidationError, RefusedError):
        return "refused"


@given(sample=st.sampled_from(SAMPLES), place=st.integers(0, 500), value=VALUES)
def test_it_returns_and_refuses_what_the_serializer_does(sample: dict[str, Any], place: int, value: Any) -> None:
    parcel = copy.deepcopy(sample)
    inside = list(places(parcel))
    holder, step = inside[place % len(inside)]
    if value is LEFT_OUT:
        del holder[step]
    else:
        holder[step] = value
    assert outcome(read_parcel, copy.deepcopy(parcel)) == outcome(SERIALIZER.run_validation, parcel)


def test_the_samples_are_valid_to_both() -> None:
    assert [read_parcel(each) for each in SAMPLES] == [SERIALIZER.run_validation(each) for each in SAMPLES]


@pytest.mark.parametrize("value", [None, [], "text", {}, 1])
def test_what_is_no_parcel_is_refused_by_both(value: Any) -> None:
    assert outcome(read_parcel, value) == outcome(SERIALIZER.run_validation, value) == "refused"
