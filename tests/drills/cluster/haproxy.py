"""HAProxy before the application hosts, which also leads PgBouncer to the database's primary."""

import os
from contextlib import ExitStack
from pathlib import Path

from tests.drills.cluster.database import DatabaseCluster
from tests.support.processes import Server, free_port
from tests.support.programs import Process


def haproxy(folder: Path, stack: ExitStack, cluster: DatabaseCluster, hosts: list[Server]) -> tuple[int, int]:
    """Start HAProxy; return the service's and the primary's port."""
    service_port, primary_port = free_port(), free_port()
    checks = "inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions"
    servers = "\n".join(f"  server {host.log.stem} 127.0.0.1:{host.port} check {checks}" for host in hosts)
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
    stack.enter_context(Process(["haproxy", "-q", "-f", config], os.environ, folder / "proxy.log", port=service_port))
    return service_port, primary_port
