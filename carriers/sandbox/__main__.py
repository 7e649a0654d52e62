"""The sandbox without Django: `python -m carriers.sandbox [--host H] [--port P] [--pace N]`."""

import argparse
import os

from carriers.sandbox.journeys import PACE_NAME, pace_of
from carriers.sandbox.server import serve

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="carriers.sandbox")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument(
        "--pace", type=pace_of, default=os.environ.get(PACE_NAME, ""), help="journey's seconds a second"
    )
    serve(**vars(parser.parse_args()))
