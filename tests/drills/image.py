"""The image drill: runs the image as deployed by deploy/, on real servers, and checks its behaviour.

    python -m tests.drills.image [--image NAME] [--engine "podman --runtime runc"] [--options FLAGS]

The containers use the host's network and the tests' servers (PostgreSQL, Redis, S3, the carriers' sandbox). Everything
else, from the command to the restrictions, comes from compose.yaml, and then from the Deployment, which has no init
process. It works with podman and docker.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from tests.drills.containers import Engine
from tests.drills.environment import sandbox, sandbox_settings, temporary_folder
from tests.drills.harness import read_options
from tests.drills.printing import say, timed
from tests.drills.shop import SHOP, open_shop_by_commands, order
from tests.support.deployment import ROOT, Service, compose_services, deployed
from tests.support.http import Answer, call
from tests.support.paths import PARCELS, SHIPMENTS
from tests.support.processes import free_port
from tests.support.programs import Process
from tests.support.services import ENVIRONMENT, postgresql, redis_executable
from tests.support.waiting import until

HOST = "127.0.0.1"
SLOW_S = 4
SAMPLES = ROOT / "tests" / "data" / "parcels.ndjson"
BUILD_TOOLS = "for name in pip pip3 gcc cc g++ make ld as curl wget git; do command -v $name && exit 1; done; \
python -m pip --version && exit 1; python -m ensurepip --version && exit 1; exit 0"
# A compiled file that Python compares with its source (PEP 552: flags other than 1) would be compiled at every start.
CHECKED_FILES = """python -c 'from pathlib import Path
files = [file for folder in ("/app", "/venv/lib") for file in Path(folder).rglob("*.pyc")]
print(sum(file.read_bytes()[4:8] != bytes([1, 0, 0, 0]) for file in files), "of", len(files) // 1000, "thousand")'"""


def equal(title: str, value: object, expected: object) -> None:
    """Print a fact; one that is not as expected ends the drill."""
    say(title, value)
    assert value == expected, f"{title}: {expected} was expected"


def start_servers(folder: Path, stack: ExitStack) -> dict[str, str]:
    """Start the servers; return the settings that differ from compose.yaml."""
    os.environ.update(ENVIRONMENT | {"XDG_RUNTIME_DIR": str(folder)})
    from tests.labels.buckets import s3_server

    stack.enter_context(postgresql(folder / "pg"))
    (folder / "pg").chmod(0o711)  # the container's account may reach the socket, and read nothing else
    redis_port, sandbox_port = free_port(), free_port()
    redis = [redis_executable(), "--port", str(redis_port), "--bind", HOST, "--save", ""]
    stack.enter_context(Process(redis, os.environ, folder / "redis.log", port=redis_port))
    stack.enter_context(sandbox(folder, sandbox_port))
    (folder / "s3").mkdir()
    bucket = stack.enter_context(s3_server(folder / "s3"))
    addresses = {
        "DATABASE_URL": "postgresql://postgres@%2Frun%2Fpostgresql/postgres",
        "REDIS_URL": f"redis://{HOST}:{redis_port}/0",
        "SERVE_PORT": str(free_port()),
        "METRICS_PORT": str(free_port()),
        "WORK_METRICS_PORT": str(free_port()),
    }
    return addresses | sandbox_settings(sandbox_port) | bucket.environment


def secrets() -> dict[str, str]:
    """Run deploy/new-secrets.sh; return its settings."""
    made = subprocess.run(
        [ROOT / "deploy" / "new-secrets.sh", HOST, HOST], capture_output=True, text=True, check=True
    ).stdout
    return dict(line.split("=", 1) for line in made.splitlines())


def check_image(engine: Engine, service: Service) -> None:
    size = int(engine.output("image", "inspect", "--format", "{{.Size}}", engine.image))
    say("image", f"{size / 1e6:.0f} MB")
    shell = Service("shell", service.definition | {"entrypoint": ["sh", "-c"], "command": []})
    run = partial(in_shell, engine, shell)
    equal("account", run("id -u; id -g").split(), ["10001", "10001"])
    run(BUILD_TOOLS)
    say("pip, compilers, downloaders", "none")
    compared = run(CHECKED_FILES)
    say("compiled files compared with their sources", compared)
    assert compared.startswith("0 of")
    assert not compared.endswith(" 0 thousand")
    writable = run("for folder in / /app /venv /labels /var/tmp /run /tmp; do test -w $folder && echo $folder; done; :")
    equal("may be written to", writable, "/tmp")


def in_shell(engine: Engine, shell: Service, script: str) -> str:
    entrypoint, _ = shell.command()
    done = engine.try_run("run", "--rm", *engine.flags(shell), *entrypoint, engine.image, "-c", script)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout.strip()


def wait_until_healthy(engine: Engine, service: Service, name: str) -> None:
    """Run the deployment's own health check until it passes."""
    until(lambda: engine.try_run("exec", name, *service.health_command()).returncode == 0)


def check_service(engine: Engine, service: Service, token: str) -> None:
    """Look up, buy, and stop the container during a purchase."""
    port = int(service.environment["SERVE_PORT"])
    client = {"Authorization": f"Bearer {token}", "X-Forwarded-Proto": "https"}
    number = json.loads(SAMPLES.read_text().splitlines()[0])["trackingId"]
    with ExitStack() as stack:
        with timed("start until healthy"):
            name = stack.enter_context(engine.started(service))
            wait_until_healthy(engine, service, name)
        look_up = call(port, "GET", f"{PARCELS}{number}", headers=client)
        equal("look-up", look_up.status, 200)
        equal("the admin without TLS", call(port, "GET", "/admin/").status, 301)
        with urlopen(f"http://{HOST}:{service.environment['METRICS_PORT']}/metrics", timeout=5) as metrics:
            equal("look-ups counted", b'status="200"' in metrics.read(), expected=True)
        label = buy(port, client, f"{service.name} 1")
        equal("label", label.outcome, "201")
        with urlopen(label.body["labelUrl"], timeout=5) as pdf:
            equal("its PDF, from the bucket", pdf.read(5), b"%PDF-")
        say("memory", engine.output("stats", "--no-stream", "--format", "{{.MemUsage}}", name))
        check_stop(engine, service, name, partial(buy, port, client, f"{service.name} 2"))
    with engine.started(service) as name:
        wait_until_healthy(engine, service, name)
        equal("the same key after a new start", buy(port, client, f"{service.name} 2").outcome, "201 replayed")


def check_stop(engine: Engine, service: Service, name: str, buy_slowly: Callable[[], Answer]) -> None:
    fault = {"fault": "slow", "carrier": "alpha", "count": 1, "delay_s": SLOW_S}
    call(sandbox_port(service), "POST", "/control/faults", fault)
    with ThreadPoolExecutor() as pool:
        purchase = pool.submit(buy_slowly)
        time.sleep(SLOW_S / 4)  # the carrier has it now
        with timed("SIGTERM during a purchase"):
            exit_code = engine.stop(name)
    equal("the purchase", purchase.result().outcome, "201")
    equal("exit code", exit_code, 0)


def sandbox_port(service: Service) -> int:
    return int(urlsplit(service.environment["ALPHA_URL"]).port or 0)


def buy(port: int, headers: dict[str, str], key: str) -> Answer:
    return call(port, "POST", SHIPMENTS, order(key, "alpha"), headers | {"Idempotency-Key": key})


def check_work(engine: Engine, service: Service) -> None:
    """Wait for the background process to begin, and stop it."""
    with engine.started(service) as name:
        until(lambda: "work begins" in engine.try_run("logs", name).stderr)
        with timed("work: SIGTERM"):
            exit_code = engine.stop(name)
        equal("work: exit code", exit_code, 0)
        assert "Traceback" not in engine.try_run("logs", name).stderr


def drill(engine: Engine) -> None:
    with ExitStack() as stack:
        folder = temporary_folder(stack)
        services = compose_services(secrets(), start_servers(folder, stack))
        engine.options += ["--volume", f"{folder / 'pg'}:/run/postgresql"]
        service, migrate = services["service"], services["migrate"]
        check_image(engine, service)
        with timed("migrate"):
            engine.run(migrate, *migrate.command()[1])
        run = partial(engine.run, service)
        token = open_shop_by_commands(run)
        say("import_parcels", run("import_parcels", SHOP, "-", stdin=SAMPLES.read_text()))
        say("", "from compose.yaml")
        check_service(engine, service, token)
        check_work(engine, services["work"])
        say("", "from kubernetes/base/deployment.yaml")
        check_service(engine, deployed(service.environment), token)
        ledger = call(sandbox_port(service), "GET", "/ledger").body
        equal("parcels on the carrier's ledger", len(ledger), 4)


if __name__ == "__main__":
    options = read_options(image="parcel-service", engine="podman", options="")
    drill(Engine(options.engine, options.image, options.options))
    print("all checks passed")
