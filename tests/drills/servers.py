"""Servers with kill points, which can be restarted after a kill."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from tests.drills.environment import Environment
from tests.drills.http_client import call
from tests.support.paths import SHIPMENTS


class Server:
    """A forking server, which restarts by itself."""

    def __init__(self, port: int) -> None:
        self.port = port

    def restart(self) -> None:
        """Do nothing."""


class Granian(Server):
    """The production server, which has to be started again."""

    def __init__(self, env: Environment, stack: ExitStack, batch: int) -> None:
        self.env, self.stack, self.batch = env, stack, batch
        self.start()

    def start(self) -> None:
        server = self.env.granian("tests.drills.kill_points:application", threads=self.batch + 2, DRILL_KILLS_GROUP="1")
        self.port, self.process = self.stack.enter_context(server)
        with ThreadPoolExecutor(self.batch) as pool:  # each thread has answered a request
            list(pool.map(lambda _: call(self.port, "GET", SHIPMENTS + "/0"), range(self.batch * 2)))

    def restart(self) -> None:
        self.process.popen.wait()
        self.start()


@contextmanager
def serving(env: Environment, batch: int) -> Iterator[Server]:
    """Serve with granian where one kill interrupts a batch of purchases, with a forking server otherwise."""
    with ExitStack() as stack:
        if batch == 1:
            yield Server(stack.enter_context(env.forking_server()))
        else:
            yield Granian(env, stack, batch)
