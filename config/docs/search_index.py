"""The search's index: the sections of the texts and of the reference, each with its address."""

from collections.abc import Iterable, Iterator
from functools import cache
from html import unescape
from typing import Any

import orjson
from django.urls import reverse
from django.utils.html import strip_tags
from markdown_it.token import Token

from config.docs.examples import split
from config.docs.guide import CHANGES, PAGES, REFUSALS, markdown, tokens_of
from config.docs.openapi.views import as_json
from shops.api.errors.coded import CODES

Json = dict[str, Any]
TEXTS = [
    *((page.route, "Guide", page.source) for page in PAGES),
    ("refusals", "Carriers' errors", REFUSALS),
    ("changes", "Changes", CHANGES),
]


@cache
def index() -> bytes:
    """Return the index as JSON: a list of `url`, `page`, `title` and `text`, the same on every host."""
    description = orjson.loads(as_json())
    return orjson.dumps([*sections(), *codes(), *operations(description), *schemas(description)])


def entry(route: str, anchor: str, page: str, title: str, text: str) -> dict[str, str]:
    return {"url": f"{reverse(route)}#{anchor}", "page": page, "title": title, "text": " ".join(text.split())}


def sections() -> Iterator[dict[str, str]]:
    for route, page, path in TEXTS:
        for heading, title, *rest in split(tokens_of(path), lambda token: token.type == "heading_open"):
            yield entry(route, str(heading.attrGet("id")), page, text_in([title]), text_in(rest))


def text_in(tokens: Iterable[Token]) -> str:
    """Return the words of paragraphs, tables and lists, without examples' code."""
    return " ".join(
        unescape(strip_tags(token.content))
        if token.type == "html_block"
        else "".join(child.content or " " for child in token.children or ())
        for token in tokens
        if token.type in {"inline", "html_block"}
    )


def codes() -> Iterator[dict[str, str]]:
    for error in CODES.values():
        yield entry("guide-errors", error.name, "Guide", error.name, f"{error.cause} {error.remedy}".replace("`", ""))


def operations(description: Json) -> Iterator[dict[str, str]]:
    for path, methods in (description["paths"] | description["webhooks"]).items():
        for method, operation in methods.items():
            # The reference names all that is sent to a shop alike.
            tag = "webhooks" if path in description["webhooks"] else operation["tags"][0]
            anchor = f"operations-{tag}-{operation['operationId']}"
            names = [each.get("name", "") for each in operation.get("parameters", [])]
            words = (method.upper(), path, words_of(operation["description"]), *names)
            yield entry("reference", anchor, "Reference", operation["summary"], " ".join(words))


def schemas(description: Json) -> Iterator[dict[str, str]]:
    for name, schema in description["components"]["schemas"].items():
        fields = schema.get("properties", {}).items()
        words = (f"{field}: {words_of(facts.get('description', ''))}" for field, facts in fields)
        text = " ".join((words_of(schema.get("description", "")), *words))
        yield entry("reference", f"schema-{name}", "Reference", name, text)


def words_of(description: str) -> str:
    return text_in(markdown().parse(description))
