"""The tables of data beside the code, one reader for all."""

import csv
from pathlib import Path


def rows_of(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file, by its path in this package."""
    with (Path(__file__).parent / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
