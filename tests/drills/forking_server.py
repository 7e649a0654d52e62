"""Serves `tests.drills.kill_points` from a forked child, and forks the next one as soon as that one dies.

A production server starts in a second or two; this one needs some milliseconds, because its parent has imported
everything. The parent holds only the listening socket: no database connection, no thread.
"""

import tests.drills.host_clock  # noqa: F401  # isort: skip  # before all that reads the clock
import os
import socket
import sys
from typing import Any
from wsgiref.util import setup_testing_defaults

from django.conf import settings
from django.core.servers.basehttp import ThreadedWSGIServer

from tests.drills.harness import read_options
from tests.drills.kill_points import application
from tests.drills.shop import order
from tests.support.browser import SilentHandler
from tests.support.paths import VERSION


class Server(ThreadedWSGIServer):
    """A server on a socket that already listens; it closes each thread's database connections."""

    def __init__(self, listener: socket.socket) -> None:
        super().__init__(("127.0.0.1", 0), SilentHandler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.server_name, self.server_port = "127.0.0.1", listener.getsockname()[1]
        self.setup_environ()
        self.set_app(application)


def warm_up() -> None:
    """Import what a first request would, without opening any connection."""
    from labels.serializers import LabelOrderSerializer
    from shops.contracts.clients import client

    environ: dict[str, Any] = {"PATH_INFO": f"{VERSION}/nothing", "HTTP_HOST": "127.0.0.1"}
    setup_testing_defaults(environ)
    application(environ, lambda *_: None)
    for carrier in settings.CARRIER_ENDPOINTS:
        client(carrier, is_test=False)
        LabelOrderSerializer(data=order("warm", carrier)).is_valid(raise_exception=True)


def main() -> None:
    warm_up()
    listener = socket.create_server(("127.0.0.1", read_options(port=0).port), backlog=128)
    while True:
        child = os.fork()
        if child == 0:
            Server(listener).serve_forever(poll_interval=60)
        status = os.waitpid(child, 0)[1]
        print(f"died of signal {os.WTERMSIG(status)}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
