"""Renders the texts from Markdown to HTML; their tables come from the code, and a test runs the guide's examples."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name

from config.docs.tables import TABLES

SOURCE = Path(__file__).with_name("guide.md")
REFUSALS = Path(__file__).with_name("refusals.md")
# The demonstration's address in the examples; the page shows its own address instead.
ORIGIN = "http://127.0.0.1:8000"
ORIGIN_MARK = "SERVICEORIGIN"  # a single token in every lexer
FOLDED = {"python": "Python", "js": "JavaScript", "php": "PHP"}
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


@cache
def text_of(path: Path) -> Text:
    parser = markdown()
    source = path.read_text(encoding="utf-8").replace(ORIGIN, ORIGIN_MARK)
    tokens = parser.parse(PLACEHOLDER.sub(lambda match: TABLES[match[1]](), source))
    headings = tuple(name_headings(tokens))
    label_cells(tokens)
    body = parser.renderer.render(list(folded(tokens)), parser.options, {})
    return Text(body, headings)


def name_headings(tokens: list[Token]) -> Iterator[Heading]:
    """Give each heading an id, and yield the table of contents."""
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            slug = re.sub(r"[^a-z0-9]+", "-", inline.content.lower()).strip("-")
            opening.attrSet("id", slug)
            yield Heading(int(opening.tag[1]), slug, inline.content)


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


def folded(tokens: list[Token]) -> Iterator[Token]:
    """Fold each example in a programming language, with its output, into a <details> element."""
    is_open = False
    for token in tokens:
        language = token.info.split(" ")[0] if token.type == "fence" else ""
        if is_open and language != "text":
            is_open = False
            yield html("</details>\n")
        if language in FOLDED:
            is_open = True
            yield html(f"<details><summary>{FOLDED[language]}</summary>\n")
        yield token


def html(content: str) -> Token:
    return Token("html_block", "", 0, content=content)


def code_block(token: Token) -> str:
    language = token.info.split(" ")[0]
    kind = "code" if language in {"sh", *FOLDED} else "answer"
    marked = highlight(token.content, lexer(language), HtmlFormatter(nowrap=True))
    return f'<pre class="{kind}" tabindex="0"><code>{marked}</code></pre>\n'


def lexer(language: str) -> Lexer:
    # PHP's expects HTML unless the code begins with its tag.
    return get_lexer_by_name(language, **({"startinline": True} if language == "php" else {}))
