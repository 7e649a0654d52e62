"""Renders blocks of code; examples of one thing in several languages become a choice of language."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, groupby

from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

LANGUAGES = {"sh": "curl", "python": "Python", "js": "JavaScript", "php": "PHP"}


def language_of(token: Token) -> str:
    return token.info.split(" ")[0]


def code_block(token: Token) -> str:
    language = language_of(token)
    kind = "code" if language in LANGUAGES else "answer"
    lexer = get_lexer_by_name(language, startinline=True)  # PHP's expects HTML unless the code begins with its tag
    marked = highlight(token.content, lexer, HtmlFormatter(nowrap=True))
    return f'<pre class="{kind}" tabindex="0"><code>{marked}</code></pre>\n'


def with_choices(tokens: list[Token]) -> Iterator[Token]:
    """Put each run of examples in several languages into a group of radio buttons, which needs no script."""
    numbers = count(1)
    for is_code, run in groupby(tokens, lambda token: token.type == "fence"):
        blocks = list(run)
        examples = split(blocks, lambda block: language_of(block) in LANGUAGES) if is_code else []
        if len(examples) > 1:
            context = {"examples": list(map(shown, examples)), "number": next(numbers)}
            yield Token("html_block", "", 0, content=render_to_string("docs/examples.html", context))
        else:
            yield from blocks


def split(tokens: Iterable[Token], begins: Callable[[Token], bool]) -> list[list[Token]]:
    """Split tokens into parts, each from one that begins a part up to the next: an example with the answers below."""
    parts: list[list[Token]] = []
    for token in tokens:
        if begins(token):
            parts.append([])
        if parts:
            parts[-1].append(token)
    return parts


def shown(blocks: Sequence[Token]) -> dict[str, str]:
    language = language_of(blocks[0])
    content = mark_safe("".join(map(code_block, blocks)))  # noqa: S308 - made of our own files
    return {"language": language, "name": LANGUAGES[language], "blocks": content}
