"""Hold the running service against its description: ``python -m tests.contract [--database D] [--examples N]``.

The service runs as in production, on a database, a Redis and carriers' sandbox of its own; schemathesis sends it what
the description allows and what it forbids, in all its phases, and checks every answer.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.drills.environment import ROOT, SHOP, Stage, stage

PARCELS = 400


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.contract", description=__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--examples", type=int, default=4000, help="cases of each operation, in each phase")
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with stage(arguments.database, {}, redis=arguments.database == "postgresql") as made:
        world = seed(made)
        with made.served() as (port, _):
            bought = [made.buy(port, f"seed-{number}", order) for number, order in enumerate(world["orders"])]
            world["labels"] = [answer.body for answer in bought if answer.status == 201]
            (made.folder / "world.json").write_text(json.dumps(world))
            started_s = time.monotonic()
            options = {"max-examples": arguments.examples, "seed": arguments.seed, "phases": arguments.phases}
            status = run(made, port, options)
        print(f"{arguments.database}, {time.monotonic() - started_s:.0f} s, seed {arguments.seed}", flush=True)
        print(summary(json.loads((made.folder / "tally.json").read_text())))
    sys.exit(status)


def seed(made: Stage) -> dict[str, Any]:
    """Fill the shop; tell what there is to be found, and an order that each product's carrier takes."""
    import orjson
    from django.db import connections

    from carriers.products import PRODUCTS
    from parcels.importing import ParcelImport
    from parcels.samples import sample_parcels
    from tests.labels.orders import order

    samples = list(sample_parcels(PARCELS, now_ms=time.time_ns() // 1_000_000))
    lines = ((number, orjson.dumps(sample)) for number, sample in enumerate(samples, 1))
    ParcelImport(shop_id=SHOP, report=print).run(lines)
    connections.close_all()
    return {
        "numbers": [number for sample in samples for number in sample["trackingNumbers"]],
        "parcels": [{"orderName": sample["orderNumber"], "email": sample["customerEmail"]} for sample in samples],
        "orders": [order(code) for code in PRODUCTS],
    }


def run(made: Stage, port: int, options: dict[str, Any]) -> int:
    """Let schemathesis loose; its report goes to standard output."""
    settings = ROOT / "tests/contract/schemathesis.toml"
    command: list[str | Path] = [Path(sys.executable).with_name("schemathesis"), "--config-file", settings]
    command += ["run", f"http://127.0.0.1:{port}/openapi.json"]
    command += [f"--{name}={value}" for name, value in options.items()]
    facts = {"TOKEN": made.token, "WORLD": made.folder / "world.json", "TALLY": made.folder / "tally.json"}
    environment = os.environ | {f"CONTRACT_{name}": str(value) for name, value in facts.items()}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def summary(tally: dict[str, int]) -> str:
    replayed = tally.pop("replayed", 0)
    lines = [f"{count:7} {answer}" for answer, count in sorted(tally.items())]
    return "\n".join([*lines, f"{sum(tally.values()):7} requests; {replayed} of the 201 replayed"])


if __name__ == "__main__":
    main()
