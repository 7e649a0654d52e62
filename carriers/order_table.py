"""Every field of an order, and where it goes at each carrier."""

from collections.abc import Iterator
from functools import cache
from types import MappingProxyType
from typing import Final

from carriers.beta.customs import DUTIES_PAID_TO
from carriers.beta.parties import ONE_LINE, WITH_PROVINCES
from carriers.order_fields import INSIDE_UNION, TO_POINT, Case, Cases, Condition, OrderFacts, OrderField

MAX_DAYS_AHEAD: Final = 7  # of a parcel that is handed in with beta

NOT_TODAY: Final = Condition("on another day than today", lambda facts: facts.days_ahead not in {None, 0})
NOT_SOON: Final = Condition(
    f"before today or more than {MAX_DAYS_AHEAD} days ahead",
    lambda facts: facts.days_ahead is not None and not 0 <= facts.days_ahead <= MAX_DAYS_AHEAD,
)
DUTIES_PAID: Final = Condition("`true`", lambda facts: facts.is_duties_paid)
ON_ONE_LINE: Final = Condition("to BE and CH", lambda facts: facts.country_code in ONE_LINE)
IN_PROVINCES: Final = Condition("to US and CA", lambda facts: facts.country_code in WITH_PROVINCES)
BY_DDP: Final = Condition(
    "where the sender pays the duties",
    lambda facts: facts.is_duties_paid and facts.country_code in DUTIES_PAID_TO,
)
WITH_INSTRUCTIONS: Final = Condition("not empty", lambda facts: facts.has_instructions)

INSURED: Final = "with a signature or to a pickup point, at most 5000 euros, to a pickup point 1000"
DUTIES: Final = f"from FR to {' '.join(sorted(DUTIES_PAID_TO))}, and with a signature to GF GP MQ RE"
CONTENTS: Final = " ".join(f"skybillValue.content{rank}" for rank in range(1, 6))
LESS_STREET: Final = ", less what address1 takes of the line"
SENDER: Final = "letter.sender.address"
ADDRESSEE: Final = "letter.addressee.address"
ARTICLE: Final = "letter.customsDeclarations.contents.article"

NOT_NEEDED: Final = (Case(),)
OF_THE_LABEL: Final = (Case(kept="kept with the label"),)
OF_THE_RECORD: Final = Case(when=TO_POINT, kept="kept with the parcel, the point's is sent")

Limit = str | int  # a number is one of characters


def wire(names: str, limit: Limit = "") -> Cases:
    return (Case(names, f"{limit} characters" if isinstance(limit, int) else limit),)


def alphas(names: str, *parties: str) -> str:
    """Return alpha's names of a part of these parties."""
    return " ".join(f"{party}Value.{party}{name}" for name in names.split() for party in parties)


def betas(names: str, address: str) -> str:
    """Return beta's names of a part of an address."""
    return " ".join(f"{address}.{name}" for name in names.split())


def to_point(names: str) -> Cases:
    return (Case(names, when=TO_POINT), *NOT_NEEDED)


def field(path: str, alpha: Cases, beta: Cases) -> OrderField:
    return OrderField(path, MappingProxyType({"alpha": alpha, "beta": beta}))


# The parts of the sender's and the recipient's address: alpha's names of them with the limit, then beta's.
ADDRESS: Final[tuple[tuple[str, str, Limit, str, Limit], ...]] = (
    ("firstName", "Name Name2", "100 characters with the other name", "firstName", 29),
    ("lastName", "Name Name2", "100 characters with the other name", "lastName", 35),
    ("company", "Name", 100, "companyName", 35),
    ("address1", "Adress1 Adress2", "two lines of 38 characters", "line2 line3", "two lines of 35 characters"),
    ("address2", "Adress2", f"38 characters{LESS_STREET}", "line3", f"35 characters{LESS_STREET}"),
    ("city", "City", 50, "city", 35),
    ("zip", "ZipCode", 9, "zipCode", 35),
    ("countryCode", "Country", "", "countryCode", ""),
    ("phone", "Phone MobilePhone", 17, "phoneNumber mobileNumber", 15),
)
# In whose stead a pickup point's are sent; and beta's limits where only one line is printed.
PLACE: Final = frozenset({"company", "address1", "address2", "city", "zip", "countryCode"})
ONE_LINE_LIMITS: Final = {"address1": "35 characters", "address2": "what address1 leaves of 35 characters"}


def origin(name: str, alpha: str, alpha_limit: Limit, beta: str, beta_limit: Limit) -> OrderField:
    """Return a field of the sender, which at alpha is also the customer who is billed."""
    alpha_names = alphas(alpha, "shipper", "customer")
    return field(f"originAddress.{name}", wire(alpha_names, alpha_limit), wire(betas(beta, SENDER), beta_limit))


def destination(name: str, alpha: str, alpha_limit: Limit, beta: str, beta_limit: Limit) -> OrderField:
    """Return a field of the recipient."""
    record = (OF_THE_RECORD,) if name in PLACE else ()
    limit = ONE_LINE_LIMITS.get(name)
    one_line = (Case(f"{ADDRESSEE}.line2", limit, ON_ONE_LINE),) if limit else ()
    return field(
        f"destinationAddress.{name}",
        (*record, *wire(alphas(alpha, "recipient"), alpha_limit)),
        (*record, *one_line, *wire(betas(beta, ADDRESSEE), beta_limit)),
    )


# Of the order and of each parcel.
REFERENCE: Final = (
    (Case("skybillValue.content1", "35 characters", TO_POINT), *wire("refValue.recipientRef", 35)),
    wire("letter.sender.senderParcelRef", 15),
)
OF_CUSTOMS: Final = (Case(when=INSIDE_UNION), Case(kept="its fields, below"))

ORDER_FIELDS: Final = (
    field("orderId", OF_THE_LABEL, OF_THE_LABEL),
    field("carrierCode", OF_THE_LABEL, OF_THE_LABEL),
    field("productCode", wire("skybillValue.productCode skybillValue.service"), wire("letter.service.productCode")),
    field("reference", *REFERENCE),
    field(
        "pickupPointCode",
        to_point("refValue.recipientRef refValue.idRelais"),
        to_point("letter.parcel.pickupLocationId"),
    ),
    field(
        "shipDate",
        (
            Case(refusal="must be today's date in Europe/Paris: alpha takes no later day.", when=NOT_TODAY),
            *wire("skybillValue.shipDate"),
        ),
        (
            Case(refusal=f"must be from today to {MAX_DAYS_AHEAD} days ahead, in Europe/Paris.", when=NOT_SOON),
            *wire("letter.service.depositDate"),
        ),
    ),
    field(
        "insuredValue",
        wire("skybillValue.insuredValue", "at most 20000 euros"),
        wire("letter.parcel.insuranceValue", INSURED),
    ),
    field("labelFormat", wire("skybillParamsValue.mode"), wire("outputFormat.outputPrintingType")),
    *(origin(*row) for row in ADDRESS),
    *(destination(*row) for row in ADDRESS),
    field(
        "destinationAddress.email",
        wire("recipientValue.recipientEmail", 80),
        wire(f"{ADDRESSEE}.email", 80),
    ),
    field(
        "destinationAddress.provinceCode",
        NOT_NEEDED,
        (Case(f"{ADDRESSEE}.stateOrProvinceCode", when=IN_PROVINCES), *NOT_NEEDED),
    ),
    field(
        "destinationAddress.instructions",
        (Case(refusal="has no place with alpha: put it into address2.", when=WITH_INSTRUCTIONS), *OF_THE_LABEL),
        wire("letter.parcel.instructions", 35),
    ),
    # The parcels.
    field("parcels[].weight", wire("skybillValue.weight"), wire("letter.parcel.weight")),
    *(
        field(
            f"parcels[].{side}",
            wire(f"skybillValue.{side}"),
            (Case(f"fields.{side.upper()}", when=BY_DDP), *NOT_NEEDED),
        )
        for side in ("length", "width", "height")
    ),
    field("parcels[].reference", *REFERENCE),
    # What customs are told.
    field("customs", OF_CUSTOMS, OF_CUSTOMS),
    field(
        "customs.items[].description",
        wire(CONTENTS, "five of 45 characters"),
        wire(f"{ARTICLE}.description", 64),
    ),
    field("customs.items[].quantity", wire("skybillValue.customsValue"), wire(f"{ARTICLE}.quantity")),
    field("customs.items[].unitValue", wire("skybillValue.customsValue"), wire(f"{ARTICLE}.value")),
    field("customs.items[].hsCode", NOT_NEEDED, wire(f"{ARTICLE}.hsCode")),
    field("customs.items[].originCountry", NOT_NEEDED, wire(f"{ARTICLE}.originCountry")),
    field("customs.items[].weight", (Case(kept="to lay the goods into the parcels"),), wire(f"{ARTICLE}.weight")),
    field("customs.items[].parcel", wire(f"skybillValue.customsValue {CONTENTS}"), wire(ARTICLE)),
    field("customs.shippingCost", NOT_NEEDED, wire("letter.service.totalAmount")),
    field("customs.invoiceNumber", NOT_NEEDED, wire("letter.customsDeclarations.invoiceNumber", 35)),
    field("customs.eori", NOT_NEEDED, wire("fields.EORI", 40)),
    field("customs.comments", NOT_NEEDED, wire(f"letter.customsDeclarations.comments {ARTICLE}.description", 200)),
    field(
        "customs.dutiesPaidBySender",
        (
            Case(refusal="is not possible with alpha, which has no place for it.", when=DUTIES_PAID),
            Case(kept="`false` changes nothing"),
        ),
        (Case("letter.parcel.ddp letter.parcel.ftd", DUTIES, DUTIES_PAID), Case(kept="`false` changes nothing")),
    ),
)


def refusals(facts: OrderFacts) -> Iterator[tuple[str, str]]:
    """Yield the paths of the fields that the order's carrier has no place for, each with the words of the refusal."""
    return ((path, case.refusal) for path, case in cases_that(facts, "refusal"))


def ignored(facts: OrderFacts) -> set[str]:
    """Return the paths of the declared fields that are not needed for the order."""
    return {path for path, _ in cases_that(facts, "is_ignored")}


def cases_that(facts: OrderFacts, what: str) -> Iterator[tuple[str, Case]]:
    """Yield the fields with the order's case where it is a `refusal`, or `is_ignored`."""
    for each in fields_that(facts.product.carrier, what) if facts.product else ():
        case = each.case(facts)
        if case and getattr(case, what):
            yield each.path, case


@cache
def fields_that(carrier: str, what: str) -> list[OrderField]:
    """Return the fields of which that is the case in some of a carrier's orders."""
    return [each for each in ORDER_FIELDS if any(getattr(case, what) for case in each.carriers[carrier])]
