"""Ways to the rows of the table of a label's states: a story begins with some of them, then goes on at random.

So a row that a walk at random seldom meets is met as often as any other. A way is a rule of the stories with its
arguments. One row needs none: each cancellation is asked for.
"""

from typing import Any

from hypothesis import strategies as st

from labels.lifecycle.states import Event
from tests.labels.interruptions import CANCEL
from tests.models.label_life import FAULTS

Way = tuple[str, dict[str, Any]]
counts = st.integers(1, 2)
LONG_S = 4000  # the purchase's lease, the carrier's search and the wait for a settlement are over


def way(rule: str, **arguments: Any) -> st.SearchStrategy[Way]:
    """Return a rule with arguments, of which a list is a choice."""
    choices = {
        name: st.sampled_from(each) if isinstance(each, list) else st.just(each) for name, each in arguments.items()
    }
    return st.tuples(st.just(rule), st.fixed_dictionaries({"count": counts, **choices}))


def after(carrier: str, *faults: str | None) -> dict[str, Any]:
    return {"carrier": carrier, "fault": [FAULTS[carrier].index(each) for each in faults]}


WAYS: dict[Event, st.SearchStrategy[Way]] = {
    Event.BOUGHT: way("settle", **after("alpha", "unnumbered", "nolabel"), seconds=400),
    Event.STORED: way("restore_order", carrier=["alpha", "beta"]),
    Event.REFUSED: way("order", **after("alpha", "38", "1")) | way("order", **after("beta", "30204")),
    Event.UNANSWERED: way("order", **after("alpha", "close", "closemade", "late")),
    Event.MADE_IN_PART: way("refuse_part", count=[2, 3], left_out=[0, 1, 2], is_adopted=[True, False]),
    Event.INTERRUPTED: way(
        "settle",
        place=["before the carrier", "after the carrier"],
        **after("alpha", None),
        seconds=[2000, LONG_S],
    ),
    Event.FOUND: way(
        "settle",
        question=[(CANCEL, "1"), (CANCEL, "3")],
        **after("alpha", "closemade"),
        seconds=LONG_S,
    ),
    Event.NOT_FOUND: way("find_nothing", fault=[FAULTS["alpha"].index(each) for each in ("close", "late")])
    | way("recover", **after("alpha", "close"), is_erased=[True, False]),
    Event.VOIDED: way("settle", **after("alpha", "closemade", "late"), seconds=LONG_S),
    Event.SETTLED: way("settle", **after("beta", "close", "closemade", "nolabel"), seconds=LONG_S),
    Event.ANSWERED_LATE: way(
        "answer_late",
        carrier="beta",
        place=["before the carrier", "after the carrier"],
        seconds=LONG_S,
        again=[False, True],
    ),
    Event.ADOPTED: way(
        "adopt_order", **after("alpha", "closemade", "nolabel"), seconds=[400, LONG_S], left_out=[0, 1, 2]
    ),
    Event.MARKED_NOT_MADE: way("give_up", **after("alpha", "close"), seconds=[400, LONG_S]),
    Event.CANCEL_UNANSWERED: way("order_and_cancel", carrier="alpha", answer=["close", "closemade"]),
    Event.CANCELLED: way("order_and_cancel", carrier=["alpha", "beta"], answer=None),
    Event.CANCEL_REFUSED: way("order_and_cancel", carrier="alpha", answer=["1", "3"]),
    Event.HANDED_IN: way("cancel_again", answer=["2", "close", "closemade"], is_handed_in=True, again=[None, "1"]),
    Event.MARKED_CANCELLED: way("decide_cancellation", answer="closemade", is_handed_in=False, seconds=[400, LONG_S]),
    Event.MARKED_KEPT: way(
        "decide_cancellation", answer=["2", "close"], is_handed_in=[False, True], seconds=[400, LONG_S]
    ),
}
# A way's end may be another row, as the stories before it leave the world: these are drawn more often.
RARE = [
    *(Event.CANCELLED, Event.CANCEL_REFUSED, Event.HANDED_IN, Event.MARKED_KEPT),
    *[Event.STORED, Event.INTERRUPTED, Event.NOT_FOUND, Event.MARKED_CANCELLED] * 3,
]
ways = st.lists(st.sampled_from([*WAYS, *RARE]).flatmap(WAYS.__getitem__), min_size=1, max_size=12)
