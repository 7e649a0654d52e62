"""Answers of carriers about a parcel's numbers, recorded as `work` does, and the rows of these numbers."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from carriers.tracking import TrackingAnswer
from parcels.models import TrackingNumber
from parcels.tracking.recording import record_all


def record(parcel_id: str, answers: Iterable[TrackingAnswer], *, now: datetime) -> None:
    """Record the events of answers, each with the number that it is of."""
    ids = dict(TrackingNumber.objects.filter(parcel=parcel_id).values_list("number", "pk"))
    for answer in answers:
        numbers = {event.tracking_number for event in answer.events} or {answer.tracking_number}
        parts = {number: [event for event in answer.events if event.tracking_number == number] for number in numbers}
        told = {number: replace(answer, tracking_number=number, events=tuple(parts[number])) for number in parts}
        record_all({ids[number]: part for number, part in told.items() if number in ids}, now=now)


def number_of(parcel_id: str) -> TrackingNumber:
    """Return the row of a parcel's only number."""
    return TrackingNumber.objects.get(parcel=parcel_id)
