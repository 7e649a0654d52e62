"""The collection of requests in the ``.http`` format."""

from pathlib import Path

SOURCE = Path(__file__).with_name("parcels.http")


def collection(**variables: str) -> str:
    """Return the collection with its variables, such as `url` and `token`, set to these values."""
    text = SOURCE.read_text(encoding="utf-8")
    for name, value in variables.items():
        before, assignment, rest = text.partition(f"\n@{name} = ")
        assert assignment, name
        text = before + assignment + value + rest[rest.index("\n") :]
    return text
