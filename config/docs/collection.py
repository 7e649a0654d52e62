"""The collection of requests in the ``.http`` format."""

from pathlib import Path

SOURCE = Path(__file__).with_name("parcels.http")
NEW_LINE = "\n"


def collection(**variables: str) -> str:
    """Return the collection with its variables, such as `url` and `token`, set to these values."""
    text = SOURCE.read_text(encoding="utf-8")
    for name, value in variables.items():
        before, assignment, rest = text.partition(f"\n@{name} = ")
        assert assignment, name
        text = f"{before}{assignment}{value}{rest[rest.index(NEW_LINE) :]}"
    return text
