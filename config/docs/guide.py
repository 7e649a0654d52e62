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

FOLDER = Path(__file__).with_name("guide")
REFUSALS = Path(__file__).with_name("refusals.md")
CHANGES = Path(__file__).with_name("changes.md")
# The demonstration's address in the examples; the page shows its own address instead.
ORIGIN = "http://127.0.0.1:8000"
ORIGIN_MARK = "SERVICEORIGIN"  # a single token in every lexer
PLACEHOLDER = re.compile(r"^\[\[([a-z-]+)\]\]$", re.MULTILINE)


@dataclass(frozen=True)
class Heading:
    level: int
    slug: str
    text: str


@dataclass(frozen=True)
class Text:
    """A text's HTML, with `ORIGIN_MARK` for the service's address: the title with the lead, and all sections."""

    intro: str
    body: str
    headings: tuple[Heading, ...]  # the first is the title
    lead: str

    @property
    def sections(self) -> tuple[Heading, ...]:
        return self.headings[1:]


def markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.add_render_rule("fence", lambda _, tokens, index, *__: code_block(tokens[index]))
    parser.add_render_rule("table_open", lambda *_: '<div class="table" tabindex="0" role="group">\n<table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table>\n</div>\n")
    return parser


@dataclass(frozen=True)
class Page:
    """A page of the guide; the name of its file is the end of its path."""

    name: str

    @property
    def path(self) -> str:
        return "docs" if self.name == "start" else f"docs/{self.name}"

    @property
    def route(self) -> str:
        return self.path.replace("docs", "guide").replace("/", "-")

    @property
    def source(self) -> Path:
        return FOLDER / f"{self.name}.md"

    @property
    def text(self) -> "Text":
        return text_of(self.source)

    @property
    def title(self) -> str:
        return self.text.headings[0].text


# In the order in which they are read.
PAGES = tuple(map(Page, ("start", "tracking", "labels", "retries", "points", "lists", "webhooks", "errors", "sandbox")))


@cache
def text_of(path: Path) -> Text:
    parser, tokens = markdown(), tokens_of(path)
    headings = tuple(
        Heading(int(opening.tag[1]), str(opening.attrGet("id")), inline.content)
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open"
    )
    lead = next(token.content for opening, token in pairwise(tokens) if opening.type == "paragraph_open")
    first = next(place for place, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2")
    intro, body = (
        parser.renderer.render(list(with_choices(part)), parser.options, {})
        for part in (tokens[:first], tokens[first:])
    )
    return Text(intro, body, headings, lead)


def tokens_of(path: Path) -> list[Token]:
    """Parse a text with its tables; its headings have ids, its cells their column."""
    source = path.read_text(encoding="utf-8").replace(ORIGIN, ORIGIN_MARK)
    tokens = markdown().parse(PLACEHOLDER.sub(lambda match: TABLES[match[1]](), source))
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", re.sub(r"[^a-z0-9]+", "-", inline.content.lower()).strip("-"))
    label_cells(tokens)
    return tokens


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
