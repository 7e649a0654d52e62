"""New identifiers of shops, tokens and contracts."""

import secrets


def new_id(prefix: str) -> str:
    """Return a new identifier. A letter follows the underscore: the admin would read ``_23`` in a path as an escape."""
    return f"{prefix}_{secrets.choice('abcdef')}{secrets.token_hex(8)[1:]}"
