"""Test the running service against its description: ``python -m tests.contract [--database D] [--examples N]``.

The service runs as in production, on its own database, Redis and carriers' sandbox. In all its phases, schemathesis
sends N valid and invalid requests of each operation, and checks every answer.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.drills.environment import Environment, environment
from tests.drills.harness import read_options
from tests.drills.shop import import_samples
from tests.support.processes import ROOT

PARCELS = 400
SETTINGS = ROOT / "tests/contract/schemathesis.toml"
SERVICE: dict[str, object] = {"WEBHOOK_ALLOW_PRIVATE": 1}


def main() -> None:
    phases = "examples,coverage,fuzzing,stateful"
    options = read_options(database="sqlite", examples=4000, phases=phases, seed=1)
    is_shared = options.database == "postgresql"
    with environment(options.database, SERVICE, redis=is_shared) as env, env.served() as server:
        port = server.port
        (env.folder / "data.json").write_text(json.dumps(fill(env, port)))
        started_s = time.monotonic()
        status = run(env, port, {"max-examples": options.examples, "seed": options.seed, "phases": options.phases})
        print(f"{options.database}, {time.monotonic() - started_s:.0f} s, seed {options.seed}", flush=True)
        print(summary(json.loads((env.folder / "tally.json").read_text())))
    sys.exit(status)


def fill(env: Environment, port: int) -> dict[str, Any]:
    """Import parcels and buy a label of each product; return what requests can find, and orders that are accepted."""
    from carriers.products import PRODUCTS
    from tests.labels.orders import order

    samples = import_samples(PARCELS)
    orders = [order(code) for code in PRODUCTS]
    bought = [env.buy(port, f"seed-{number}", order) for number, order in enumerate(orders)]
    return {
        "numbers": [number for sample in samples for number in sample["trackingNumbers"]],
        "parcels": [{"orderName": sample["orderNumber"], "email": sample["customerEmail"]} for sample in samples],
        "orders": orders,
        "labels": [answer.body for answer in bought if answer.status == 201],
    }


def run(env: Environment, port: int, options: dict[str, Any]) -> int:
    """Run schemathesis, which reports to standard output; return its exit code."""
    command: list[str | Path] = [Path(sys.executable).with_name("schemathesis"), "--config-file", SETTINGS]
    command += ["run", f"http://127.0.0.1:{port}/openapi.json"]
    command += [f"--{name}={value}" for name, value in options.items()]
    facts = {"TOKEN": env.token, "DATA": env.folder / "data.json", "TALLY": env.folder / "tally.json"}
    variables = env.variables | {f"CONTRACT_{name}": str(value) for name, value in facts.items()}
    return subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode


def summary(tally: dict[str, int]) -> str:
    replayed = tally.pop("replayed", 0)
    lines = [f"{count:7} {answer}" for answer, count in sorted(tally.items())]
    return "\n".join([*lines, f"{sum(tally.values()):7} requests; {replayed} of the 201 replayed"])


if __name__ == "__main__":
    main()
