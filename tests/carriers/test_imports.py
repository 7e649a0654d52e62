"""The clients work without the sandbox; import-linter sees to it that carriers is plain Python."""

import ast
from collections.abc import Iterator
from pathlib import Path

import carriers

PACKAGE = Path(carriers.__file__).parent


def imported_modules(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_clients_do_not_import_the_sandbox() -> None:
    for file in PACKAGE.rglob("*.py"):
        if PACKAGE / "sandbox" not in file.parents:
            assert not [name for name in imported_modules(file) if name.startswith("carriers.sandbox")], file.name
