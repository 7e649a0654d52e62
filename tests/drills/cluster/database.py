"""PostgreSQL under Patroni: etcd, a primary and two streaming replicas, each with its own REST port."""

import json
import os
import shutil
import signal
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from tests.drills.process import signal_all
from tests.support.processes import free_port
from tests.support.programs import Process
from tests.support.proxies import Proxy
from tests.support.waiting import until

USER = "postgres"  # PostgreSQL refuses to be root
NAME = "tracking"
HEALTHY_TIMEOUT_S = 90
# Patroni's intervals, as short as it allows: a lost primary is replaced after `ttl` at the latest.
TTL_S, LOOP_S, RETRY_S = 20, 2, 5


def binaries() -> Path | None:
    """Find the newest PostgreSQL of Debian's packages."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


class Node(Process):
    """A database host: Patroni and its PostgreSQL, with a proxy on each way to it and from it to etcd."""

    def __init__(self, folder: Path, name: str, etcd_port: int, stack: ExitStack) -> None:
        self.folder = folder / name
        self.folder.mkdir()
        self.name = name
        self.own_port, self.own_rest_port = free_port(), free_port()
        ports = (self.own_port, self.own_rest_port, etcd_port)
        self.ways = [stack.enter_context(Proxy(("127.0.0.1", port))) for port in ports]
        self.port, self.rest_port, etcd_port = (way.port for way in self.ways)
        config = self.folder / "patroni.json"  # YAML takes JSON
        config.write_text(json.dumps(self.config(etcd_port)))
        if os.getuid() == 0:
            shutil.chown(self.folder, USER)
        variables = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        super().__init__([*as_user(), "patroni", config], variables, self.folder / "log", port=self.port)

    def config(self, etcd_port: int) -> dict[str, Any]:
        users = {role: {"username": name, "password": "drill"} for role, name in
                 (("superuser", "postgres"), ("replication", "replicator"), ("rewind", "rewind"))}  # fmt: skip
        return {
            "scope": "drill",
            "name": self.name,
            "restapi": at(self.own_rest_port, self.rest_port),
            "etcd3": {"hosts": [f"127.0.0.1:{etcd_port}"], "use_proxies": True},  # not etcd's own address
            "bootstrap": {
                "dcs": {
                    "ttl": TTL_S,
                    "loop_wait": LOOP_S,
                    "retry_timeout": RETRY_S,
                    # A commit is on two hosts before it is acknowledged: no label is lost with the primary.
                    "synchronous_mode": True,
                    "postgresql": {"use_pg_rewind": True, "parameters": {"max_connections": 200}},
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "data-checksums"],
            },
            "postgresql": at(self.own_port, self.port)
            | {
                "data_dir": str(self.folder / "data"),
                "bin_dir": str(binaries()),
                "pgpass": str(self.folder / "pgpass"),
                "authentication": users,
                "parameters": {"unix_socket_directories": str(self.folder), "wal_sender_timeout": "5s"},
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust",
                           "host replication all 127.0.0.1/32 trust"],
            },
        }  # fmt: skip

    def signal_all(self, what: signal.Signals) -> None:
        """Send a signal to all its processes at once, as when a whole host fails."""
        if self.popen.poll() is None:
            signal_all(self.pid, what)
        with suppress(OSError, ValueError):
            signal_all(int((self.folder / "data" / "postmaster.pid").read_text().split()[0]), what)

    def cut_off(self) -> None:
        """Let nothing through to it or from it, as when its network fails; it runs on."""
        for way in self.ways:
            way.silence()

    def reconnect(self) -> None:
        for way in self.ways:
            way.restore()

    def kill(self) -> None:
        self.signal_all(signal.SIGKILL)
        super().kill()


def at(own_port: int, port: int) -> dict[str, Any]:
    """Return Patroni's settings of a server: its own port, and the one that others reach it by."""
    return {"listen": f"127.0.0.1:{own_port}", "connect_address": f"127.0.0.1:{port}"}


def as_user() -> list[str]:
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if os.getuid() == 0 else []


class DatabaseCluster:
    """Three nodes, one of which is the primary at a time."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        command = ["etcd", "--data-dir", str(folder / "etcd"), "--name", "etcd", "--initial-cluster", f"etcd={peer}"]
        command += ["--listen-client-urls", client, "--advertise-client-urls", client]
        command += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
        stack.enter_context(Process(command, os.environ, folder / "etcd.log"))
        port = int(client.rpartition(":")[2])
        self.nodes = [Node(folder, f"pg{number}", port, stack) for number in (1, 2, 3)]
        stack.enter_context(self.nodes[0])
        self.wait(lambda roles: "leader" in roles)
        for node in self.nodes[1:]:
            stack.enter_context(node)
        self.wait_until_healthy()

    def url(self, query: str = "") -> str:
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"postgresql://postgres@{hosts}/{NAME}{query}"

    def roles(self) -> dict[str, str]:
        """Ask any node for each running node's role: ``leader``, ``sync_standby`` or ``replica``."""
        for node in self.nodes:
            with suppress(OSError, ValueError):
                url = f"http://127.0.0.1:{node.rest_port}/cluster"
                with urllib.request.urlopen(url, timeout=1) as answer:
                    members = json.load(answer)["members"]
                running = [member for member in members if member["state"] in {"running", "streaming"}]
                return {member["name"]: member["role"] for member in running}
        return {}

    def wait(self, is_enough: Callable[[list[str]], bool]) -> None:
        """Wait for roles. Raise RuntimeError with Patroni's logs if they do not come."""
        try:
            until(lambda: is_enough(list(self.roles().values())), timeout_s=HEALTHY_TIMEOUT_S)
        except AssertionError:
            logs = "\n".join(file.read_text()[-4000:] for node in self.nodes if (file := node.folder / "log").exists())
            raise RuntimeError(f"the database is {self.roles()} after {HEALTHY_TIMEOUT_S} s\n{logs}") from None

    def wait_until_healthy(self) -> None:
        self.wait(lambda roles: sorted(roles) == ["leader", "replica", "sync_standby"])

    def node(self, role: str) -> Node:
        roles = self.roles()
        return next(node for node in self.nodes if roles.get(node.name) == role)
