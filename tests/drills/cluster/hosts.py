"""Application hosts behind HAProxy, which also leads PgBouncer to the database's primary."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path

from tests.drills.cluster.database import DatabaseCluster
from tests.drills.process import Process
from tests.support.processes import free_port

WORKERS = 2  # the default, as the number of threads


class Host:
    """An application host: a server process with its own port and settings."""

    def __init__(self, folder: Path, name: str, variables: dict[str, str]) -> None:
        self.log = folder / f"{name}.log"
        self.name = name
        self.port = free_port()
        self.variables = variables
        self.process: Process | None = None

    def start(self) -> None:
        command = [sys.executable, "manage.py", "serve", "--port", str(self.port)]
        command += ["--workers", str(WORKERS)]
        self.process = Process(command, dict(os.environ) | self.variables, self.log)
        self.process.wait_until_listening(self.port)

    def stop(self) -> None:
        """Send SIGTERM, as an orchestrator does; it finishes the requests in flight."""
        assert self.process
        self.process.stop()
        self.kill()

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process = None


def haproxy(folder: Path, stack: ExitStack, cluster: DatabaseCluster, hosts: list[Host]) -> tuple[int, int]:
    """Start HAProxy; return the service's and the primary's port."""
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
  # A GET is retried on the other host if one ends without an answer; a label order is not, it may have bought.
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
    process.wait_until_listening(service_port)
    return service_port, primary_port
