"""The tables of data beside the code, one reader for all."""

import csv
from pathlib import Path


def rows_of(name: str, beside: str = __file__) -> list[dict[str, str]]:
    """Return the rows of a CSV file, by its path from the folder of a module: of this one, if no other is given."""
    with (Path(beside).parent / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
