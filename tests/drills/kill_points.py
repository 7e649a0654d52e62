"""The service's own WSGI application, with points at which a request can kill its process.

The code under test is unchanged: its functions are wrapped here. A request names its point in ``X-Drill-Kill``:
``POINT``, or ``POINT*N`` to kill the process when N such requests have reached it. Besides the API, requests to
``/drill/cancel`` and ``/drill/reconcile`` cancel and reconcile the label of the order that their query names;
``/drill/take-over`` reconciles it even if another process works on it.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from functools import wraps
from typing import Any

from django.core.files.base import ContentFile
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from carriers.alpha.client import CANCEL, FIND
from carriers.http.connections import Deadline, _BoundedConnection
from carriers.http.messages import Answer, Request
from carriers.http.transport import Transport
from carriers.pickup_points import PickupPointCache
from config.wsgi import application as service
from labels import cancelling, outcomes, purchase, reconciling, storage
from labels.models import LabelState, ShippingLabel
from shops.contracts.clients import client

# The first requests at a point wait this long for the others of their batch.
BATCH_TIMEOUT_S = 2.0
CARRIERS = [client("alpha"), client("beta")]
# The prefix of the points of each operation at a carrier.
STAGES = (
    {carrier.purchase_operation: "call" for carrier in CARRIERS}
    | {carrier.points_operation: "point" for carrier in CARRIERS}
    | {FIND: "find", CANCEL: "cancel"}
)


@dataclass
class Kill:
    """A request's point, and its progress."""

    point: str
    batch: int
    is_reserving: bool = False
    stage: str = ""
    purchases: int = 0
    sends: int = 0


current: ContextVar[Kill | None] = ContextVar("current", default=None)
arrivals: list[float] = []
lock = threading.Lock()


def reach(point: str) -> None:
    """Kill the process with SIGKILL if this is the request's point."""
    kill = current.get()
    if not point or kill is None or kill.point != point:
        return
    with lock:
        arrivals.append(time.monotonic())
    while len(arrivals) < kill.batch and time.monotonic() < arrivals[0] + BATCH_TIMEOUT_S:
        time.sleep(0.005)
    if "DRILL_KILLS_GROUP" in os.environ:  # the server's master process with its workers
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


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


def hook_reserve() -> None:
    """Tell the commit of the row from every other commit of the request."""
    reserve, commit = purchase.reserve, BaseDatabaseWrapper._commit  # type: ignore[attr-defined]  # not in the stubs

    def reserving(label: Any) -> None:
        kill = current.get() or Kill("", 0)
        kill.is_reserving = True
        reach("reserve-before")
        reserve(label)
        kill.is_reserving = False
        reach("reserve-after")

    def committing(self: Any) -> None:
        kill = current.get()
        if kill and kill.is_reserving:
            reach("reserve-commit")
        commit(self)

    purchase.reserve = reserving
    BaseDatabaseWrapper._commit = committing  # type: ignore[attr-defined]  # as above


def hook_calls() -> None:
    """Add the points of an exchange with a carrier: on the wire, and before the second of beta's linked calls."""
    post, send = Transport.post, _BoundedConnection.send

    def posting(self: Transport, carrier: str, request: Request, deadline: Deadline) -> Answer:
        kill = current.get() or Kill("", 0)
        kill.stage, kill.sends = STAGES[request.operation], 0
        kill.purchases += kill.stage == "call"
        reach("call-second" if kill.purchases == 2 else f"{kill.stage}-before")
        answer = post(self, carrier, request, deadline)
        reach(f"{kill.stage}-answered")
        return answer

    def sending(self: Any, data: Any) -> None:
        send(self, data)
        kill = current.get() or Kill("", 0)
        kill.sends += 1  # the headers are one, the body another
        reach(f"{kill.stage}-half-sent" if kill.sends == 1 else f"{kill.stage}-sent")

    Transport.post = posting  # type: ignore[method-assign]  # replaced on purpose
    _BoundedConnection.send = sending  # type: ignore[method-assign]  # as above


def hook_finish() -> None:
    """Tell the finishing save from every other save of a state."""
    save_state = outcomes.save_state

    def saving(label: Any, *args: Any, **kwargs: Any) -> Any:
        is_last = label.state == LabelState.GENERATED
        reach("finish-before" if is_last else "")
        result = save_state(label, *args, **kwargs)
        reach("finish-after" if is_last else "")
        return result

    outcomes.save_state = saving


class FileInHalves(ContentFile):  # type: ignore[type-arg]  # it is generic in the stubs only
    """A PDF that is written in two halves."""

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        content = self.read()
        yield content[: len(content) // 2]
        reach("store-half")
        yield content[len(content) // 2 :]


hook_reserve()
hook_calls()
hook_finish()
wrap(outcomes, "keep", before="keep-before", after="keep-after")
wrap(storage, "store", before="store-before", after="store-after")
wrap(reconciling, "take", after="take-after")
wrap(cancelling, "begin", before="request-before", after="request-after")
wrap(cancelling, "begin_for_found", after="begin-after")
wrap(cancelling, "record", after="record-after")
wrap(cancelling, "change_state", before="over-before", after="over-after")
storage.ContentFile = FileInHalves  # type: ignore[attr-defined]  # it is imported there


def reconcile(label: ShippingLabel) -> str:
    taken = reconciling.take(label.id)
    if taken is None:
        return "409 Not taken"
    reconciling.settle(taken)
    return "200 OK"


def take_over(label: ShippingLabel) -> str:
    ShippingLabel.objects.filter(id=label.id).update(leased_until=timezone.now() - timedelta(seconds=1))
    return reconcile(label)


def cancel(label: ShippingLabel) -> str:
    try:
        cancelling.cancel(label)
    except cancelling.CancelError:
        return "409 Not cancelled"
    return "200 OK"


ACTS = {"/drill/reconcile": reconcile, "/drill/take-over": take_over, "/drill/cancel": cancel}


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    point, _, batch = environ.get("HTTP_X_DRILL_KILL", "").partition("*")
    for carrier in CARRIERS if point.startswith("point") else ():
        carrier._points = PickupPointCache()  # it is looked up again
    token = current.set(Kill(point, int(batch or 1)))
    try:
        if act := ACTS.get(environ["PATH_INFO"]):
            status = act(ShippingLabel.objects.filter(order_id=environ["QUERY_STRING"]).latest("id"))
            start_response(status, [("Content-Length", "0")])
            return []
        return service(environ, start_response)
    finally:
        current.reset(token)
