"""Parses hosts in settings: ``NAME:PORT``, ``192.0.2.1``, ``[2001:db8::1]:5432``."""

import re

HOST = re.compile(r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<name>[^:\[\]]+))(?::(?P<port>[0-9]{1,5}))?")


def split_host(text: str, default_port: int) -> tuple[str, int]:
    """Split a host into name and port; raise ValueError."""
    host = HOST.fullmatch(text)
    port = int(host["port"] or default_port) if host else 0
    if not host or not 0 < port < 2**16:
        raise ValueError("a host needs a name and may have a port")
    return host["ipv6"] or host["name"], port
