"""The sandbox's command line: `python -m carriers.sandbox --port 8100`."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from carriers.sandbox.journeys import DEFAULT_PACE, PACE_HELP, PACE_NAME, pace_of
from carriers.sandbox.server import SandboxServer


def serve(host: str, port: int, ledger: Path | None = None, pace: float = DEFAULT_PACE) -> None:
    """Print the URLs on standard error and serve until SIGINT or SIGTERM, in the main thread."""
    server = SandboxServer(host, port, ledger, pace)
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: server.state.closing.set())
    lines = (
        f"alpha shipping  {server.alpha_url}",
        f"alpha tracking  {server.alpha_tracking_url}",
        f"alpha points    {server.alpha_points_url}",
        f"alpha quickcost {server.alpha_quickcost_url}",
        f"beta            {server.beta_url}",
        f"beta points     {server.beta_points_url}",
        f"beta account    {server.beta_account_url}",
        f"beta delivery   {server.beta_delivery_url}",
        f"beta tracking   {server.beta_tracking_url}",
        f"ledger          {server.url}/ledger",
        f"help            {server.url}/",
    )
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
    try:
        server.serve_forever()
    finally:
        server.close()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="carriers.sandbox", description="Stands in for both carriers over HTTP.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument("--ledger", type=Path, help="a file that keeps the purchases")
    parser.add_argument("--pace", type=pace_of, default=pace_of(os.environ.get(PACE_NAME, "")), help=PACE_HELP)
    options = parser.parse_args(argv)
    serve(options.host, options.port, options.ledger, options.pace)


if __name__ == "__main__":
    main()
