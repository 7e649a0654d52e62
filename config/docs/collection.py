"""The collection of requests in the ``.http`` format, ready for a service's address and a token."""

from pathlib import Path

SOURCE = Path(__file__).with_name("parcels.http")
NEW_LINE = "\n"


def collection(**variables: str) -> str:
    """Return it with variables at its top, such as `url` and `token`, set to other values."""
    text = SOURCE.read_text(encoding="utf-8")
    for name, value in variables.items():
        before, mark, rest = text.partition(f"\n@{name} = ")
        assert mark, name
        text = f"{before}{mark}{value}{rest[rest.index(NEW_LINE) :]}"
    return text
