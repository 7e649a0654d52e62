"""Caddy, as deploy/Caddyfile sets it up, in front of a service on this machine."""

import os
import subprocess
from pathlib import Path

from tests.support.processes import ROOT, free_port
from tests.support.programs import Process

CADDYFILE = ROOT / "deploy" / "Caddyfile"
HOSTS = ("127.0.0.1", "127.0.0.2")
# Run a command with a file as its /etc/hosts.
WITH_HOSTS = ["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"']


def proxy(folder: Path, port: int, service_port: int, *, spare: bool = False) -> Process:
    """Run Caddy on a port, without TLS.

    With a spare the service's name has two addresses, 127.0.0.1 and 127.0.0.2, as that of two containers has.
    """
    variables = dict(os.environ) | {
        "SERVICE_HOST": f"http://127.0.0.1:{port}",
        "LABELS_HOST": f"http://127.0.0.1:{free_port()}",
        "XDG_CONFIG_HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
    }
    configuration = folder / "Caddyfile"
    upstream = f"{'service' if spare else HOSTS[0]}:{service_port}"
    configuration.write_text(for_version(CADDYFILE.read_text().replace("service:8000", upstream)))
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(configuration)]
    if spare:
        (folder / "hosts").write_text("".join(f"{host} service\n" for host in HOSTS))
        command = [*WITH_HOSTS, str(folder / "hosts"), *command]
    return Process(command, variables, folder / "caddy.log", port=port)


def for_version(text: str) -> str:
    """Write an option as Caddy before 2.7 has it, which distributions still bring."""
    said = subprocess.run(["caddy", "version"], capture_output=True, text=True, check=True).stdout
    major, minor = said.strip().removeprefix("v").split(".")[:2]
    is_old = (int(major), int(minor)) < (2, 7)
    return text.replace("request_buffers 2MiB", "buffer_requests\n\t\tmax_buffer_size 2MiB") if is_old else text
