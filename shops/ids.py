"""Identifiers of a shop's records."""

import secrets


def new_id(prefix: str) -> str:
    """A new identifier. What follows the underscore is a letter: ``_23`` in a path is an escape to the admin."""
    return f"{prefix}_{secrets.choice('abcdef')}{secrets.token_hex(8)[1:]}"
