"""Renders the texts from Markdown to HTML; their tables come from the code, and a test runs the guide's examples."""

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from config.docs.examples import code_block, with_choices
from config.docs.generated_tables import TABLES

SOURCE = Path(__file__).with_name("guide.md")
REFUSALS = Path(__file__).with_name("refusals.md")
CHANGES = Path(__file__).with_name("changes.md")
# The demonstration's address in the examples; the page shows its own address instead.
ORIGIN = "http://127.0.0.1:8000"
ORIGIN_MARK = "SERVICEORIGIN"  # a single token in every lexer
PLACEHOLDER = re.compile(r"^\[\[([a-z-]+)\]\]$", re.MULTILINE)


@dataclass(frozen=True)
class Heading:
    """An entry of the table of contents."""

    level: int
    slug: str
    text: str


@dataclass(frozen=True)
class Text:
    """The page's HTML, with `ORIGIN_MARK` for the service's address."""

    body: str
    headings: tuple[Heading, ...]


def markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.add_render_rule("fence", lambda _, tokens, index, *__: code_block(tokens[index]))
    parser.add_render_rule("table_open", lambda *_: '<div class="table" tabindex="0" role="group">\n<table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table>\n</div>\n")
    return parser


def guide() -> Text:
    return text_of(SOURCE)


def refusals() -> Text:
    return text_of(REFUSALS)


def changes() -> Text:
    return text_of(CHANGES)


@cache
def text_of(path: Path) -> Text:
    parser, tokens = markdown(), tokens_of(path)
    headings = tuple(
        Heading(int(opening.tag[1]), str(opening.attrGet("id")), inline.content)
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open"
    )
    return Text(parser.renderer.render(list(with_choices(tokens)), parser.options, {}), headings)


def tokens_of(path: Path) -> list[Token]:
    """Parse a text with its tables; its headings have ids, its cells their column."""
    source = path.read_text(encoding="utf-8").replace(ORIGIN, ORIGIN_MARK)
    tokens = markdown().parse(PLACEHOLDER.sub(lambda match: TABLES[match[1]](), source))
    name_headings(tokens)
    label_cells(tokens)
    return tokens


def name_headings(tokens: list[Token]) -> None:
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", re.sub(r"[^a-z0-9]+", "-", inline.content.lower()).strip("-"))


def label_cells(tokens: list[Token]) -> None:
    """Label each table cell with its column; narrow screens show the label beside the cell."""
    columns: list[str] = []
    column = 0
    for token, following in pairwise(tokens):
        if token.type == "table_open":
            columns = []
        elif token.type == "th_open":
            columns.append(following.content)
        elif token.type == "tr_open":
            column = 0
        elif token.type == "td_open":
            token.attrSet("data-column", columns[column])
            column += 1
