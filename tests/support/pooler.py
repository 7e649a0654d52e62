"""A real PgBouncer in transaction mode, where one is installed."""

import os
import shutil
from pathlib import Path

from tests.support.programs import Process

# Debian keeps it where only an administrator's path leads.
EXECUTABLE = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")


def pgbouncer(folder: Path, port: int, server_port: int, *, pool_size: int) -> Process:
    """Pool connections to the server on this machine's `server_port`."""
    assert EXECUTABLE
    config = folder / "pgbouncer.ini"
    config.write_text(
        f"""[databases]
* = host=127.0.0.1 port={server_port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {pool_size}
max_client_conn = 500
server_connect_timeout = 2
server_login_retry = 1
query_wait_timeout = 5
"""
    )
    # It refuses to be root.
    user = ["-u", "nobody"] if os.getuid() == 0 else []
    return Process([EXECUTABLE, "-q", *user, config], os.environ, folder / "pgbouncer.log", port=port)
