"""Formats a label for the staff's pages: its state, why it is not what was ordered, its recipient."""

from datetime import datetime

from django import template
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from labels.lifecycle.notices import notice_of, worded
from labels.models import IN_CANCELLATION, LabelState, ShippingLabel
from shops.api.errors.coded import CODES
from shops.personal_data import MASKED
from shops.staff.display_texts import badge, number, short_name, time_tag

# Orange: waits for a person.
COLOURS = {
    LabelState.PURCHASING: "info",
    LabelState.RECEIVED: "primary",
    LabelState.GENERATED: "success",
    LabelState.FAILED: "danger",
    LabelState.INCOMPLETE: "warning",
    LabelState.UNKNOWN: "warning",
    LabelState.CANCELLING: "warning",
    LabelState.CANCEL_UNKNOWN: "warning",
    LabelState.CANCELLED: "danger",
}
MEANINGS = {
    LabelState.PURCHASING: gettext_lazy("The carrier is being asked for it now."),
    LabelState.RECEIVED: gettext_lazy(
        "Bought. The PDF waits in the database for the storage, and then the shop can retrieve it."
    ),
    LabelState.GENERATED: gettext_lazy("Bought and stored. The shop can retrieve it."),
    LabelState.FAILED: gettext_lazy("Not bought. The shop's key is free again, and the shop may order again."),
    LabelState.INCOMPLETE: gettext_lazy(
        "Some parcels were made before the carrier refused another. The shop cannot retrieve it."
    ),
    LabelState.UNKNOWN: gettext_lazy(
        "The carrier may have made it, and no readable answer says so. The shop cannot retrieve it, "
        "and its key buys nothing until this is decided."
    ),
    LabelState.CANCELLING: gettext_lazy(
        "To be cancelled: the carrier could not yet. reconcile_labels tries again for an hour. The "
        "shop cannot retrieve it."
    ),
    LabelState.CANCEL_UNKNOWN: gettext_lazy(
        "To be cancelled: the carrier may have done so, and did not answer. No refusal says any "
        "more that it stays bought. The shop cannot retrieve it."
    ),
    LabelState.CANCELLED: gettext_lazy(
        "Bought, then cancelled. The shop cannot retrieve it, and its key buys nothing."
    ),
}
INTERRUPTED = gettext_lazy(
    "The purchase was broken off, and no process works on it any more. reconcile_labels takes it up."
)

register = template.Library()
register.filter("notice", notice_of)
register.filter("worded", worded)


def is_interrupted(label: ShippingLabel) -> bool:
    return label.state == LabelState.PURCHASING and not label.is_leased


def state_name(label: ShippingLabel) -> str:
    return gettext("Interrupted") if is_interrupted(label) else short_name(label.state)


@register.filter
def state_meaning(label: ShippingLabel) -> str:
    return str(INTERRUPTED if is_interrupted(label) else MEANINGS[LabelState(label.state)])


@register.filter
def state_label(label: ShippingLabel) -> str:
    """Show a label's state in its colour, with its meaning as the tooltip."""
    return badge(state_name(label), COLOURS[LabelState(label.state)], state_meaning(label))


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
