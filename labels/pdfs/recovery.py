"""Labels that were bought and are not recorded: the storage keeps them until the reconciliation records them.

Where the database was away, the PDF (several as a ZIP file) is where the label's belongs, and a file beside it holds
what else the carrier gave. That file is written last and removed when the row has everything. Where the database lost
the purchase's end, by a restore to a moment or a failover, there is the PDF alone, and the carrier is asked for the
numbers.
"""

import json
from contextlib import suppress

from carriers.shipment import PickupPoint, PurchasedLabel
from labels.models import ShippingLabel
from labels.pdfs import storage, unmerged

PLACE = ("code", "name", "address1", "address2", "address3", "zip_code", "city", "country_code")


def facts_key(label: ShippingLabel) -> str:
    """Return the name of the file beside the PDF."""
    return label.pdf_key.removesuffix(".pdf") + ".json"


def save(label: ShippingLabel, purchased: PurchasedLabel) -> None:
    """Keep a purchased label in the storage. Raise StorageError."""
    point = purchased.pickup_point
    facts = {
        "tracking_numbers": purchased.tracking_numbers,
        "reservation_number": purchased.reservation_number,
        "is_customs_form_missing": purchased.is_customs_form_missing,
        "warnings": purchased.warnings,
        "pickup_point": point and {name: getattr(point, name) for name in PLACE},
    }
    storage.store(label, unmerged.packed(purchased.pdfs))
    storage.write(facts_key(label), json.dumps(facts).encode())


def remove(label: ShippingLabel) -> None:
    """Remove what the storage keeps of an order that counts as not made; `check_labels` names what is left."""
    with suppress(storage.StorageError):
        for name in (facts_key(label), label.pdf_key):
            storage.delete(name)


def find(label: ShippingLabel) -> PurchasedLabel | None:
    """Return what the storage keeps of a purchase, if anything. Raise StorageError."""
    content = storage.read(facts_key(label))
    kept = storage.read(label.pdf_key) if content else None
    if content is None or kept is None:
        return None
    facts = json.loads(content)
    return PurchasedLabel(
        tuple(facts["tracking_numbers"]),
        unmerged.parts(kept),
        reservation_number=facts["reservation_number"],
        is_customs_form_missing=facts["is_customs_form_missing"],
        warnings=tuple(facts.get("warnings", ())),
        pickup_point=PickupPoint(**facts["pickup_point"]) if facts.get("pickup_point") else None,
    )
