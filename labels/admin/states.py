"""A label's state for staff: its name, its colour and its meaning."""

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from labels.models import LabelState, ShippingLabel
from shops.admin.wording import short_name

# Orange: waits for a person.
COLOURS = {
    LabelState.PURCHASING: "info",
    LabelState.RECEIVED: "primary",
    LabelState.GENERATED: "success",
    LabelState.FAILED: "danger",
    LabelState.INCOMPLETE: "warning",
    LabelState.UNKNOWN: "warning",
    LabelState.CANCELLING: "warning",
    LabelState.CANCELLED: "danger",
}
MEANINGS = {
    LabelState.PURCHASING: "The carrier is being asked for it now.",
    LabelState.RECEIVED: "Bought. The PDF waits in the database for the storage, and then the shop can retrieve it.",
    LabelState.GENERATED: "Bought and stored. The shop can retrieve it.",
    LabelState.FAILED: "Not bought. The shop's key is free again, and the shop may order again.",
    LabelState.INCOMPLETE: "Some parcels were made before the carrier refused another. The shop cannot retrieve it.",
    LabelState.UNKNOWN: "The carrier may have made it, and no readable answer says so. The shop cannot retrieve it, "
    "and its key buys nothing until this is decided.",
    LabelState.CANCELLING: "To be cancelled: the carrier could not yet. reconcile_labels tries again for an hour. The "
    "shop cannot retrieve it.",
    LabelState.CANCELLED: "Bought, then cancelled. The shop cannot retrieve it, and its key buys nothing.",
}
INTERRUPTED = "The purchase was broken off, and no process works on it any more. reconcile_labels takes it up."


def is_interrupted(label: ShippingLabel) -> bool:
    return label.state == LabelState.PURCHASING and not label.is_leased


def state_name(label: ShippingLabel) -> str:
    return "Interrupted" if is_interrupted(label) else short_name(label.state)


def state_meaning(label: ShippingLabel) -> str:
    return INTERRUPTED if is_interrupted(label) else MEANINGS[LabelState(label.state)]


def state_label(label: ShippingLabel) -> str:
    """Show a label's state in its colour, with its meaning as the tooltip."""
    context = {"text": state_name(label), "type": COLOURS[LabelState(label.state)], "label_title": state_meaning(label)}
    return render_to_string("unfold/helpers/label.html", context)


def notice_label(label: ShippingLabel) -> str:
    """Mark a label that has a notice for staff, with the notice as the tooltip."""
    if not label.staff_notice:
        return SafeString()
    context = {"text": "Needs attention", "type": "warning", "label_title": label.staff_notice}
    return render_to_string("unfold/helpers/label.html", context)
