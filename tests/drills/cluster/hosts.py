"""Two application hosts, HAProxy before them, and before the primary for those who come through PgBouncer."""

import os
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

from tests.drills.cluster.database import Cluster
from tests.drills.environment import Process, wait_for
from tests.support.processes import free_port

GRACE_S = 90
THREADS = 16


class Host:
    """An application host: a server process with a port and an environment of its own."""

    def __init__(self, folder: Path, name: str, environment: dict[str, str]) -> None:
        self.log = folder / f"{name}.log"
        self.name = name
        self.port = free_port()
        self.environment = environment
        self.process: Process | None = None

    def start(self) -> None:
        command = [sys.executable, "manage.py", "serve", "--port", str(self.port)]
        command += ["--workers", "1", "--threads", str(THREADS)]
        self.process = Process(command, dict(os.environ) | self.environment, self.log)
        wait_for(self.port, self.process)

    def stop(self) -> None:
        """End it as an orchestrator does: it finishes what is in flight."""
        assert self.process
        self.process.popen.send_signal(signal.SIGTERM)
        self.process.popen.wait(GRACE_S)
        self.kill()

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process = None


def haproxy(folder: Path, stack: ExitStack, cluster: Cluster, hosts: list[Host]) -> tuple[int, int]:
    """Start it; return the port of the service and the port of the primary."""
    service_port, primary_port = free_port(), free_port()
    servers = "\n".join(
        f"  server {host.name} 127.0.0.1:{host.port} check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions"
        for host in hosts
    )
    nodes = "\n".join(
        f"  server {node.name} 127.0.0.1:{node.port} check port {node.rest_port} on-marked-down shutdown-sessions"
        for node in cluster.nodes
    )
    config = folder / "haproxy.cfg"
    config.write_text(
        f"""global
  maxconn 2000
defaults
  timeout connect 1s
  timeout client 90s
  timeout server 90s
  timeout check 1s
frontend service
  mode http
  bind 127.0.0.1:{service_port}
  default_backend hosts
backend hosts
  mode http
  balance roundrobin
  option redispatch 1
  retries 2
  # What only reads is asked of the other host when one ends without an answer; a label order may have bought.
  retry-on conn-failure empty-response
  http-request disable-l7-retry unless METH_GET
{servers}
listen primary
  mode tcp
  bind 127.0.0.1:{primary_port}
  option httpchk GET /primary
  default-server inter 1s fall 2 rise 1
{nodes}
"""
    )
    process = stack.enter_context(Process(["haproxy", "-q", "-f", str(config)], dict(os.environ), folder / "proxy.log"))
    wait_for(service_port, process)
    return service_port, primary_port
