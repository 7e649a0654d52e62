"""beta's linked parcels: one label request each, linked by fields of the request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carriers.sandbox.beta.tables import MOST_PARCELS

if TYPE_CHECKING:
    from carriers.sandbox.beta.json_request import Json
    from carriers.sandbox.beta.violations import Violations
    from carriers.sandbox.ledger import Ledger

TYPE, RANK, COUNT, FOLLOWERS = KEYS = (
    "TYPE_MULTI_PARCEL",
    "PARCEL_ITERATION_NUMBER",
    "TOTAL_NUMBER_PARCEL",
    "LIST_FOLLOWER_PARCEL",
)
NOT_POSSIBLE = 30318


@dataclass(frozen=True)
class Link:
    """A parcel's rank among those it is linked with."""

    rank: int = 1
    count: int = 1
    followers: tuple[str, ...] = ()  # of a master


def read_link(body: Json, violations: Violations) -> Link:
    """Return the parcel's link; a contradictory one is an error."""
    pairs = body["fields"].get("field", [])
    if not pairs:
        return Link()
    fields = {pair.get("key", ""): pair.get("value", "") for pair in pairs}
    rank, count = _small_number(fields.get(RANK, "")), _small_number(fields.get(COUNT, ""))
    followers = tuple(fields[FOLLOWERS].split("/")) if FOLLOWERS in fields else ()
    is_master = fields.get(TYPE) == "MASTER"
    violations.require(len(fields) == len(pairs) and fields.keys() <= set(KEYS), NOT_POSSIBLE, "fields: unknown key")
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


def _small_number(text: str) -> int:
    """Return a number of one digit, or 0, which is no parcel's rank."""
    return int(text) if len(text) == 1 and text in "0123456789" else 0
