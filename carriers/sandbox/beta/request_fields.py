"""The request's `fields`: pairs of a documented key and a value, some of which link parcels, one request each."""

from dataclasses import dataclass

from carriers.sandbox.beta.answers import Violations
from carriers.sandbox.beta.tables import MOST_PARCELS
from carriers.sandbox.countries import OVERSEAS
from carriers.sandbox.json_request import Json
from carriers.sandbox.ledger import Ledger

Fields = dict[str, str]

LINK_KEYS = TYPE, RANK, COUNT, FOLLOWERS = (
    "TYPE_MULTI_PARCEL", "PARCEL_ITERATION_NUMBER", "TOTAL_NUMBER_PARCEL", "LIST_FOLLOWER_PARCEL",
)  # fmt: skip
EORI, FORM_FORMAT, ACCOUNT_NUMBER = "EORI", "OUTPUT_PRINT_TYPE_CN23", "ACCOUNT_NUMBER"
SIZE_KEYS = ("LENGTH", "WIDTH", "HEIGHT")
KEYS = frozenset({*LINK_KEYS, *SIZE_KEYS, EORI, FORM_FORMAT, ACCOUNT_NUMBER})
FORM_FORMATS = ("PDF_A4_300dpi",)  # of the published ones, those that are drawn here
NOT_POSSIBLE = 30318


def read_fields(body: Json) -> Fields:
    return {pair.get("key", ""): pair.get("value", "") for pair in body["fields"].get("field", [])}


def validate_fields(body: Json, violations: Violations) -> None:
    """Require known keys, each once, with values that do not depend on the rest of the request."""
    fields = read_fields(body)
    is_known = len(fields) == len(body["fields"].get("field", [])) and fields.keys() <= KEYS
    violations.require(is_known, NOT_POSSIBLE, "fields: unknown or repeated key")
    violations.require(fields.get(FORM_FORMAT, FORM_FORMATS[0]) in FORM_FORMATS, NOT_POSSIBLE, FORM_FORMAT)


def _small_number(text: str) -> int:
    """Return a number of one digit, or 0, which is no parcel's rank."""
    return int(text) if len(text) == 1 and text in "0123456789" else 0


@dataclass(frozen=True)
class Link:
    """A parcel's rank among those it is linked with."""

    rank: int = 1
    count: int = 1
    followers: tuple[str, ...] = ()  # of a master


def read_link(body: Json, violations: Violations) -> Link:
    """Return the parcel's link; a contradictory one is an error."""
    fields = read_fields(body)
    if not fields.keys() & set(LINK_KEYS):
        return Link()
    country = body["letter"]["addressee"]["address"].get("countryCode", "")
    violations.require(country in OVERSEAS, NOT_POSSIBLE, f"{TYPE}: linked parcels go overseas only")
    rank, count = _small_number(fields.get(RANK, "")), _small_number(fields.get(COUNT, ""))
    followers = tuple(fields[FOLLOWERS].split("/")) if FOLLOWERS in fields else ()
    is_master = fields.get(TYPE) == "MASTER"
    violations.require(fields.get(TYPE) in ("FOLLOWER", "MASTER"), NOT_POSSIBLE, TYPE)
    violations.require(1 < count <= MOST_PARCELS, NOT_POSSIBLE, COUNT)
    violations.require(rank == count if is_master else 1 <= rank < count, NOT_POSSIBLE, RANK)
    violations.require(len(followers) == (count - 1 if is_master else 0), NOT_POSSIBLE, FOLLOWERS)
    return Link(rank, count, followers)


def validate_followers(link: Link, ledger: Ledger, account: str, violations: Violations) -> None:
    """Require a master's followers to be this contract's, bought with the same total, each rank once."""
    found = [ledger.purchase("beta", number) for number in link.followers]
    ranks = {
        row.parcel_rank
        for row in found
        if row is not None and row.account == account and row.parcel_count == link.count
    }
    violations.require(ranks == set(range(1, len(found) + 1)), NOT_POSSIBLE, f"{FOLLOWERS}: unknown numbers")
