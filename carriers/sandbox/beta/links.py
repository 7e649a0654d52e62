"""beta's linked parcels: one label request each, linked by fields of the request."""

from dataclasses import dataclass

from carriers.sandbox.beta.json_request import Json
from carriers.sandbox.beta.request_fields import LINK_KEYS, Fields, read_fields, small_number
from carriers.sandbox.beta.tables import MOST_PARCELS
from carriers.sandbox.beta.violations import Violations
from carriers.sandbox.countries import OVERSEAS
from carriers.sandbox.ledger import Ledger

TYPE, RANK, COUNT, FOLLOWERS = LINK_KEYS
NOT_POSSIBLE = 30318


@dataclass(frozen=True)
class Link:
    """A parcel's rank among those it is linked with."""

    rank: int = 1
    count: int = 1
    followers: tuple[str, ...] = ()  # of a master


def read_link(body: Json, violations: Violations) -> Link:
    """Return the parcel's link; a contradictory one is an error."""
    fields: Fields = read_fields(body)
    if not fields.keys() & set(LINK_KEYS):
        return Link()
    country = body["letter"]["addressee"]["address"].get("countryCode", "")
    violations.require(country in OVERSEAS, NOT_POSSIBLE, f"{TYPE}: linked parcels go overseas only")
    rank, count = small_number(fields.get(RANK, "")), small_number(fields.get(COUNT, ""))
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
