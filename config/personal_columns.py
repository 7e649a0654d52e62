"""The columns that hold customers' data, of all tables, and their table in docs/security.md."""

from collections.abc import Iterator, Mapping
from typing import Final

from django.db.models import Model

import labels.personal_data.columns
import parcels.personal_data.columns
from labels.models import LabelFigure
from parcels.figures.models import DayFigure, ParcelFigure, TrackingFigure
from shops.contracts.accounts import CarrierAccount
from shops.models import (
    AccessToken,
    AuditEntry,
    CarrierContract,
    MorningMail,
    Pace,
    QueueRow,
    Recount,
    Shop,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from shops.personal_data import Columns, named
from shops.staff.taking import NOTES

OWN_ID, CARRIER = {"id": "made by us"}, {"carrier_code": "a carrier"}
SHOPS: Final[Mapping[type[Model], Mapping[str, str]]] = {
    Shop: OWN_ID | {"name": "the shop's", "sender_address": "the shop's"},
    AccessToken: OWN_ID
    | {"name": "what it is used for", "digest": "of a random text", "last_four": "of it"}
    | {"asked_by": "a member of staff"},
    CarrierContract: OWN_ID
    | named(
        "account_number parent_account_number pickup_account_number products commercial_name encrypted_credentials",
        "the shop's",
    )
    | named("customs_description customs_hs_code", "the shop's goods"),
    CarrierAccount: OWN_ID | named("account_number encrypted_credentials", "the shop's"),
    WebhookEndpoint: OWN_ID | named("url event_types encrypted_secrets disabled_reason", "the shop's"),
    WebhookEvent: named("message_id type subject data", "ids, numbers and states"),
    WebhookDelivery: {"subject": "an id", "last_reason": "our word"},
    AuditEntry: named("actor address", "who acted")
    | named("shop_id object_type object_id search_words details", "ids, counts, and digests of customers")
    | {"customer": "keyed digest", "changes": "values that staff set, of shops, contracts and accounts"},
    Pace: {"name": "our word"},
    MorningMail: {"language": "of a member of staff"},
    Recount: {"name": "our word", "time_zone": "a setting"},
    LabelFigure: named("product_code state error_code", "counted"),
    ParcelFigure: CARRIER | named("status timing", "counted"),
    DayFigure: CARRIER,
    TrackingFigure: CARRIER | {"silent": "counts"},
}
COLUMNS: Final[Mapping[type[Model], Columns]] = {
    **parcels.personal_data.columns.COLUMNS,
    **labels.personal_data.columns.COLUMNS,
    QueueRow: Columns({"notes": NOTES}, {"name": "our word", "taken_by": "a member of staff"}),
    **{model: Columns({}, others) for model, others in SHOPS.items()},
}


def table() -> str:
    """Return the table of docs/security.md."""
    return "\n".join(["| column | kind | without the permission | after an erasure |", "|---|---|---|---|", *rows()])


def rows() -> Iterator[str]:
    for model, columns in COLUMNS.items():
        for name, part in columns.personal.items():
            for path, value in part.values(f"{model._meta.model_name}.{name}"):
                seen = "dots" if value.is_masked else "shown"
                seen = "the table's words, else dots" if value.standard else seen
                left = {"": "empty", (): "empty"}.get(value.left, "none" if value.left is None else value.left)
                yield f"| `{path}` | {value.kind} | {seen} | {left} |"
