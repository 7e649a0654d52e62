"""Formats a label for the staff's pages: its state, why it is not what was ordered, its recipient."""

from datetime import datetime
from typing import Final

from django import template
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext

from carriers.data import rows_of
from labels.lifecycle.notices import notice_of, worded
from labels.lifecycle.outdated import facts_of
from labels.models import IN_CANCELLATION, LabelState, ShippingLabel
from shops.api.errors.coded import CODES
from shops.personal_data import MASKED
from shops.staff.display_texts import badge, number, short_name, time_tag

# By state: its colour, of which orange waits for a person, and its meaning.
STATES: Final = {row["state"]: row for row in rows_of("label_states.csv", __file__)}

register = template.Library()
register.filter("notice", notice_of)
register.filter("facts", facts_of)
register.filter("worded", worded)


def shown_state(label: ShippingLabel) -> str:
    """Return the state in the table: a purchase that no process works on any more is interrupted."""
    is_interrupted = label.state == LabelState.PURCHASING and not label.is_leased
    return "interrupted" if is_interrupted else label.state


def state_name(label: ShippingLabel) -> str:
    return short_name(shown_state(label))


@register.filter
def state_meaning(label: ShippingLabel) -> str:
    return gettext(STATES[shown_state(label)]["meaning"])


@register.filter
def state_label(label: ShippingLabel) -> str:
    """Show a label's state in its colour, with its meaning as the tooltip."""
    row = STATES[shown_state(label)]
    return badge(state_name(label), row["colour"], row["meaning"])


@register.simple_tag
def timestamp(at: datetime) -> str:
    """Show a time; the tooltip has the seconds."""
    return time_tag(at, f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S}")


@register.filter
def cause(label: ShippingLabel) -> str:
    """Say what the error's code means."""
    code = CODES.get(label.error_code)
    return gettext(code.cause) if code else ""


@register.filter
def reason(label: ShippingLabel) -> str:
    """Say why a label is not what the shop ordered: the error in words, with the carrier's, or the notice for staff."""
    said = label.error_message or cause(label)
    name = gettext("To be cancelled") if label.state in IN_CANCELLATION else error_name(label.error_code)
    context = {"name": name, "said": notice_of(label) or said}
    return render_to_string("labels/reason.html", context) if any(context.values()) else ""


def error_name(code: str) -> str:
    """Format an error's code without its carrier: ``ALPHA_ADDRESS_REJECTED`` becomes ``Address rejected``."""
    return short_name(code.removeprefix(code.partition("_")[0] + "_")) if code else ""


@register.filter
def recipient_name(label: ShippingLabel) -> str:
    names = label.recipient["firstName"], label.recipient["lastName"]
    return MASKED if MASKED in names else " ".join(names).strip()


@register.filter
def weights(label: ShippingLabel) -> str:
    """Write the parcels' weights as the reader writes numbers."""
    return " + ".join(map(number, label.weights_kg))
