"""Pages that are out of date: forms say what their page showed of a label, and another label is not decided about."""

from collections.abc import Collection
from hashlib import sha256

import orjson
from django.utils.translation import gettext

from labels.lifecycle.decisions import DecisionError
from labels.models import ShippingLabel


class OutdatedError(DecisionError):
    """The label is no longer as a person read it before deciding."""

    def __init__(self) -> None:
        super().__init__(gettext("Nothing was changed: the label has changed since the page was read. Look again."))


def facts_of(label: ShippingLabel) -> str:
    """Digest what people decide by: the numbers that are known, those that are cancelled, and the notice."""
    lists = (label.tracking_numbers, label.surplus_numbers, label.cancelled_numbers)
    return sha256(orjson.dumps([label.id, *lists, label.staff_notice])).hexdigest()


def check_seen(label: ShippingLabel, seen: Collection[str]) -> None:
    """Raise OutdatedError if a page that is sent showed facts of labels, and other ones of this label."""
    if seen and facts_of(label) not in seen:
        raise OutdatedError
