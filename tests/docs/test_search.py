"""The search's index: its sections, and that each of their addresses leads to one."""

import json
from typing import Any

import pytest

from config.docs.openapi.views import as_json
from shops.api.errors.coded import CODES
from tests.docs.test_pages import Elements
from tests.support.api import Nobody

PAGES = {
    "Guide": "/docs",
    "Carriers' errors": "/docs/refusals",
    "Changes": "/docs/changelog",
    "Reference": "/docs/reference",
}


@pytest.fixture
def sections(nobody: Nobody) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(nobody.get("/docs/search.json").content)
    return found


def test_every_page_is_searched(sections: list[dict[str, Any]]) -> None:
    assert {section["page"] for section in sections} == set(PAGES)
    assert all(set(section) == {"url", "page", "title", "text"} and section["title"] for section in sections)
    assert len({section["url"] for section in sections}) == len(sections)


@pytest.mark.parametrize("page", ["Guide", "Carriers' errors", "Changes"])
def test_every_section_is_on_its_page(page: str, sections: list[dict[str, Any]], nobody: Nobody) -> None:
    ids = set(Elements(nobody.get(PAGES[page])).ids)
    urls = [section["url"] for section in sections if section["page"] == page]
    assert urls
    assert [url for url in urls if url.partition("#")[2] not in ids or not url.startswith(f"{PAGES[page]}#")] == []


def test_every_error_code_and_every_field_is_found(sections: list[dict[str, Any]]) -> None:
    assert set(CODES) <= {section["title"] for section in sections}
    texts = {section["title"]: section["text"] for section in sections if section["page"] == "Reference"}
    schemas = json.loads(as_json())["components"]["schemas"]
    assert [
        field for name in schemas for field in schemas[name].get("properties", {}) if field not in texts[name]
    ] == []


def test_the_text_has_no_markup_and_no_address_of_the_service(sections: list[dict[str, Any]]) -> None:
    text = json.dumps(sections)
    for mark in ("</", "](", "**", "&#x", "&quot;", "SERVICEORIGIN", "127.0.0.1", "testserver"):
        assert mark not in text
