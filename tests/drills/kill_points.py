"""The service's own WSGI application, with points at which a request can be interrupted.

The code under test is unchanged: its functions are wrapped here. A request names its point in ``X-Drill-Kill``:
``POINT``, or ``POINT*N`` to kill the process when N such requests have reached it. ``X-Drill-Freeze`` stops the process
there, ``X-Drill-Lose`` deletes the row. Besides the API, requests to ``/drill/cancel`` and ``/drill/reconcile`` cancel
and reconcile the label of the order that their query names; ``/drill/take-over`` reconciles it even if another process
works on it, and ``/drill/reconcile-all`` does what the command does.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from pathlib import Path
from typing import Any

from django.utils import timezone

from carriers.alpha.client import CANCEL, FIND
from carriers.http.connections import BoundedConnection, Deadline
from carriers.http.transport import Answer, Request, Transport
from carriers.pickup_points import PickupPointCache
from config.wsgi import application as service
from labels.lifecycle import cancelling, outcomes, purchase, reconciling
from labels.lifecycle.states import Event
from labels.models import ShippingLabel
from labels.pdfs import storage
from labels.pdfs.folder import PARTIAL, LabelFolder, make_private_folders
from shops.contracts.clients import client
from tests.drills.interruptions import current, interruption, reach, read

CARRIERS = [client("alpha", is_test=False), client("beta", is_test=False)]
# The prefix of the points of each operation at a carrier.
STAGES = (
    {carrier.purchase_operation: "call" for carrier in CARRIERS}
    | {carrier.points_operations[0]: "point" for carrier in CARRIERS}
    | {FIND: "find", CANCEL: "cancel"}
)


def wrap(owner: Any, name: str, *, before: str = "", after: str = "") -> None:
    """Reach one point before every call of a function, and one after it."""
    inner = getattr(owner, name)

    @wraps(inner)
    def outer(*args: Any, **kwargs: Any) -> Any:
        reach(before)
        result = inner(*args, **kwargs)
        reach(after)
        return result

    setattr(owner, name, outer)


def hook_calls() -> None:
    """Add the points of an exchange with a carrier: on the wire, and before the second of beta's linked calls."""
    post, send = Transport.post, BoundedConnection.send

    def posting(self: Transport, carrier: str, request: Request, deadline: Deadline) -> Answer:
        own = interruption()
        own.stage, own.sends = STAGES[request.operation], 0
        own.purchases += own.stage == "call"
        reach("call-second" if own.purchases == 2 else f"{own.stage}-before")
        answer = post(self, carrier, request, deadline)
        reach(f"{own.stage}-answered")
        return answer

    def sending(self: Any, data: Any) -> None:
        send(self, data)
        own = interruption()
        own.sends += 1  # the headers are one, the body another
        reach(f"{own.stage}-half-sent" if own.sends == 1 else f"{own.stage}-sent")

    Transport.post = posting  # type: ignore[method-assign]  # replaced on purpose
    BoundedConnection.send = sending  # type: ignore[method-assign]  # as above


def hook_transition(module: Any, event: Event, point: str) -> None:
    """Tell one transition from every other that a module makes."""
    move = module.move

    def moving(label: Any, what: Event, *args: Any, **facts: Any) -> Any:
        reach(f"{point}-before" if what == event else "")
        result = move(label, what, *args, **facts)
        reach(f"{point}-after" if what == event else "")
        return result

    module.move = moving


def hook_store() -> None:
    """Leave half of a PDF in the folder of partial files, as a process does that is killed while it writes."""
    write = LabelFolder.write

    def writing(self: LabelFolder, name: str, content: bytes) -> None:
        half = Path(self.path(PARTIAL)) / f"{Path(name).name}.half"
        if name.endswith(".pdf"):
            make_private_folders(half.parent)
            half.write_bytes(content[: len(content) // 2])
            reach("store-half")
            half.unlink(missing_ok=True)  # another process may have left one, too
        write(self, name, content)

    LabelFolder.write = writing  # type: ignore[method-assign]  # replaced on purpose


hook_calls()
hook_transition(outcomes, Event.STORED, "finish")
hook_transition(cancelling, Event.CANCELLED, "over")
wrap(purchase, "reserve", before="reserve-before", after="reserve-after")
wrap(outcomes, "save_received", before="keep-before", after="keep-after")
wrap(storage, "store", before="store-before", after="store-after")
wrap(reconciling, "claim_due", after="claim-after")
for each in CARRIERS:
    wrap(type(each), "create_label", before="call-allowed")  # the lease was checked
wrap(cancelling, "begin", before="request-before", after="request-after")
wrap(cancelling, "begin_for_found", after="begin-after")
wrap(cancelling, "record_cancelled", after="record-after")
hook_store()


def label_of(order_id: str) -> ShippingLabel:
    label: ShippingLabel = ShippingLabel.objects.filter(order_id=order_id).latest("id")
    return label


def reconcile_all(_: str) -> str:
    reconciling.reconcile()
    return "200 OK"


def reconcile(order_id: str) -> str:
    label = label_of(order_id)
    taken = reconciling.claim_due(label.id)  # type: ignore[attr-defined]  # its name there is the kill point
    if taken is None:
        return "409 Not taken"
    reconciling.settle(taken)
    return "200 OK"


def take_over(order_id: str) -> str:
    ShippingLabel.objects.filter(order_id=order_id).update(leased_until=timezone.now() - timedelta(seconds=1))
    return reconcile(order_id)


def cancel(order_id: str) -> str:
    try:
        cancelling.cancel(label_of(order_id))
    except cancelling.CancelError:
        return "409 Not cancelled"
    return "200 OK"


ACTS = {
    "/drill/reconcile-all": reconcile_all,
    "/drill/reconcile": reconcile,
    "/drill/take-over": take_over,
    "/drill/cancel": cancel,
}


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
    own = read(environ)
    for carrier in CARRIERS if own.point.startswith("point") else ():
        carrier._points = PickupPointCache()  # it is looked up again
    token = current.set(own)
    try:
        if act := ACTS.get(environ["PATH_INFO"]):
            status = act(environ["QUERY_STRING"])
            start_response(status, [("Content-Length", "0")])
            return []
        return service(environ, start_response)
    finally:
        current.reset(token)
