"""The sandbox's command line: `python -m carriers.sandbox --port 8100`."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from carriers.sandbox.journeys import DEFAULT_PACE, PACE_HELP, PACE_NAME, pace_of
from carriers.sandbox.routes import SERVICES
from carriers.sandbox.server import SandboxServer


def serve(host: str, port: int, pace: float = DEFAULT_PACE) -> None:
    """Print the URLs on standard error and serve until SIGINT or SIGTERM, in the main thread."""
    server = SandboxServer(host, port, pace)
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: server.state.closing.set())
    names = [(row["name"], row["path"]) for row in SERVICES] + [("ledger", "/ledger"), ("help", "/")]
    sys.stderr.writelines(f"{name:<15} {server.url}{path}\n" for name, path in names)
    sys.stderr.flush()
    try:
        server.serve_forever()
    finally:
        server.close()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="carriers.sandbox", description="Stands in for both carriers over HTTP.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument("--pace", type=pace_of, default=pace_of(os.environ.get(PACE_NAME, "")), help=PACE_HELP)
    options = parser.parse_args(argv)
    serve(options.host, options.port, options.pace)


if __name__ == "__main__":
    main()
