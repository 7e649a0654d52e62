"""The headers of a label's answer, beside those of every answer."""

from typing import Final
from urllib.parse import quote

from labels.models import ShippingLabel
from shops.api.paths import TRACKING

# Proxies take some kilobytes of headers; a carrier's text has at most 200 characters.
MAX_WARNINGS: Final = 5
MAX_WARNING_LENGTH: Final = 200
# Printable ASCII but for the percent sign and the comma, which separates.
PLAIN: Final = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in "%,")


def of_label(label: ShippingLabel) -> dict[str, str]:
    """Return `Label-Warnings`: what the carrier said of the label, percent-encoded; nothing without a warning."""
    texts = [quote(text[:MAX_WARNING_LENGTH].strip(), safe=PLAIN) for text in label.warnings[:MAX_WARNINGS]]
    return {"Label-Warnings": ", ".join(texts)} if texts else {}


def of_purchase(label: ShippingLabel, *, is_replay: bool) -> dict[str, str]:
    """Return those of a 201."""
    replayed = {"Idempotent-Replayed": "true"} if is_replay else {}
    return {"Location": f"{TRACKING}/shipments/{label.id}", **of_label(label), **replayed}
