"""Look-ups in two threads of a worker, apart from the many that may wait for carriers, the storage and clients.

Granian runs all requests of a worker in one pool, as large as hanging carriers ask for. Look-ups that run in so many
threads fight for the interpreter, which costs a quarter of their CPU time and doubles their slowest answers.
"""

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from granian.server import mp

from shops.api.paths import PARCEL, SEARCH

LOOK_UP_THREADS = 2
Answer = Callable[[Any, dict[str, Any]], Any]
logger = logging.getLogger("service.request")


def is_look_up(environ: dict[str, Any]) -> bool:
    """Return whether a request reads parcels only: it has no body, and waits for nothing but the database and Redis."""
    return environ["REQUEST_METHOD"] in {"GET", "HEAD"} and environ["PATH_INFO"].startswith((PARCEL, SEARCH))


def handing_over(answer: Answer) -> Answer:
    """Return an `answer` that hands look-ups over to their threads, and runs everything else where it is called.

    The answer goes out when granian's `protocol` gets it, in whichever thread. A request with a body can't be handed
    over: granian closes the body when the call returns.
    """
    look_ups: SimpleQueue[tuple[Any, dict[str, Any]]] = SimpleQueue()

    def answer_look_ups() -> None:
        while True:
            protocol, environ = look_ups.get()
            try:
                answer(protocol, environ)
            except Exception:
                logger.exception("request failed")
                protocol.response_bytes(500, [], b"")

    for _ in range(LOOK_UP_THREADS):
        threading.Thread(target=answer_look_ups, name="look-ups", daemon=True).start()

    def answer_or_hand_over(protocol: Any, environ: dict[str, Any]) -> None:
        if is_look_up(environ):
            look_ups.put((protocol, environ))
        else:
            answer(protocol, environ)

    return answer_or_hand_over


def install() -> None:
    """Let granian's workers, which are forked later, hand look-ups over."""
    make_answer = mp._wsgi_call_wrap  # type: ignore[attr-defined]  # noqa: SLF001 - it has no public name
    mp._wsgi_call_wrap = lambda *args: handing_over(make_answer(*args))  # type: ignore[attr-defined]  # noqa: SLF001
