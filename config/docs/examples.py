"""Renders blocks of code; examples of one thing in several languages become a choice of language."""

from collections.abc import Iterator, Sequence
from itertools import count, groupby

from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name

LANGUAGES = {"sh": "curl", "python": "Python", "js": "JavaScript", "php": "PHP"}


def language_of(token: Token) -> str:
    return token.info.split(" ")[0]


def code_block(token: Token) -> str:
    language = language_of(token)
    kind = "code" if language in LANGUAGES else "answer"
    marked = highlight(token.content, lexer(language), HtmlFormatter(nowrap=True))
    return f'<pre class="{kind}" tabindex="0"><code>{marked}</code></pre>\n'


def lexer(language: str) -> Lexer:
    # PHP's expects HTML unless the code begins with its tag.
    return get_lexer_by_name(language, **({"startinline": True} if language == "php" else {}))


def with_choices(tokens: list[Token]) -> Iterator[Token]:
    """Put each run of examples in several languages into a group of radio buttons, which needs no script."""
    numbers = count(1)
    for is_code, run in groupby(tokens, lambda token: token.type == "fence"):
        blocks = list(run)
        examples = split(blocks) if is_code else []
        if len(examples) > 1:
            yield from choice(examples, next(numbers))
        else:
            yield from blocks


def split(blocks: Sequence[Token]) -> list[list[Token]]:
    """Split a run of code into examples, each with the answers below it."""
    examples: list[list[Token]] = []
    for block in blocks:
        if language_of(block) in LANGUAGES:
            examples.append([])
        if examples:
            examples[-1].append(block)
    return examples


def choice(examples: Sequence[Sequence[Token]], number: int) -> Iterator[Token]:
    languages = [language_of(blocks[0]) for blocks in examples]
    yield html('<fieldset class="examples">\n<legend>Language</legend>\n')
    for language in languages:
        name, state = f"language-{number}", " checked" if language == languages[0] else ""
        yield html(
            f'<input type="radio" name="{name}" id="{name}-{language}" value="{language}" autocomplete="off"{state}>'
            f'<label for="{name}-{language}">{LANGUAGES[language]}</label>\n'
        )
    for language, blocks in zip(languages, examples, strict=True):
        yield html(f'<div class="example" data-language="{language}" data-name="{LANGUAGES[language]}">\n')
        yield from blocks
        yield html("</div>\n")
    yield html("</fieldset>\n")


def html(content: str) -> Token:
    return Token("html_block", "", 0, content=content)
