"""Plain tables for people to read."""

from collections.abc import Sequence


def show(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows below their headers: the first column's text on the left, the others' on the right."""
    texts = [list(headers), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in texts) for column in range(len(headers))]
    for first, *others in texts:
        cells = [first.ljust(widths[0]), *(text.rjust(width) for text, width in zip(others, widths[1:], strict=True))]
        print("  " + "  ".join(cells), flush=True)
