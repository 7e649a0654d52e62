"""A pseudo-language: French whose every text is in brackets, so that what is outside them has no translation."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from django.apps import apps
from django.utils.translation import trans_real
from django.utils.translation.template import templatize

from carriers.products import PRODUCTS
from shops.webhooks.event_types import EVENT_TYPES
from tests.support.markup import parsed

TRANSLATED: Final = re.compile("⟦[^⟦⟧]*⟧")
WORD: Final = re.compile(r"[^\W\d_]{2,}")
SILENT: Final = (
    "ancestor::script or ancestor::style or ancestor::code or ancestor::pre"
    " or ancestor::span[contains(@class, 'material-symbols')]"
)
ATTRIBUTES: Final = ("alt", "aria-label", "data-label", "placeholder", "title")
READ: Final = " | ".join(
    [f"//text()[not({SILENT})]", "//input[@type='submit']/@value", *(f"//@{name}" for name in ATTRIBUTES)]
)
# Names, units and codes that are the same in all languages.
SAME: Final = set(
    "alpha beta Parcel service kg ms Europe Paris British English Français manage py work xx esc Excel".split()
)


class Bracketed:
    """French, in brackets; a text without a French one stays as it is."""

    def __init__(self, french: Any) -> None:
        self._french = french

    def __getattr__(self, name: str) -> Any:
        return getattr(self._french, name)

    def gettext(self, text: str) -> str:
        found: str = self._french.gettext(text)
        return f"⟦{found}⟧" if text in self._french._catalog or (text, 0) in self._french._catalog else found

    def ngettext(self, one: str, many: str, count: int) -> str:
        is_known = one in self._french._catalog or (one, 0) in self._french._catalog
        found: str = self._french.ngettext(one, many, count)
        return f"⟦{found}⟧" if is_known else found


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have French in brackets, for the time of a test."""
    french = trans_real.translation("fr")
    monkeypatch.setitem(vars(trans_real)["_translations"], "fr", Bracketed(french))


def texts(page: str) -> list[str]:
    """The texts of a page that a person reads or hears."""
    return [str(each) for each in parsed(page).xpath(READ)]


def untranslated(page: str, known: set[str]) -> Iterator[str]:
    """Yield the texts with words that are neither translated nor data."""
    for text in texts(page):
        rest, changed = text, 1
        while changed:
            rest, changed = TRANSLATED.subn(" ", rest)
        if any(word not in known and not word.isupper() for word in WORD.findall(rest)):
            yield " ".join(text.split())


def data_words() -> set[str]:
    """The words of all rows, which are nobody's to translate."""
    words = SAME | {word for name in (*PRODUCTS, *EVENT_TYPES) for word in WORD.findall(name)}
    for model in apps.get_models():
        for values in model._base_manager.values_list():
            words.update(WORD.findall(str(values)))
    return words


CALLS: Final = {"gettext", "gettext_lazy", "gettext_noop", "ngettext", "_"}
IN_TEMPLATE: Final = re.compile(r"""(?:\b|_)(?:_|n?gettext)\((u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))""")


def marked_texts(root: Path) -> Iterator[str]:
    """Yield each text that our code or templates mark for translation."""
    folders = [root / name for name in ("config", "labels", "parcels", "shops")]
    for path in (each for folder in folders for each in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
                yield from (str(each.value) for each in node.args[:1] if isinstance(each, ast.Constant))
    for path in (each for folder in folders for each in folder.rglob("*.html")):
        for literal in IN_TEMPLATE.findall(templatize(path.read_text(), origin=str(path))):
            yield ast.literal_eval(literal)
