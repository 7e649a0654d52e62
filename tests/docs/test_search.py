"""The search's index: its sections, and that each of their addresses leads to one."""

import json
from typing import Any

import pytest

from config.docs.guide import PAGES
from config.docs.openapi.views import as_json
from shops.api.errors.coded import CODES
from tests.docs.test_pages import Elements
from tests.support.api import Nobody

PATHS = {
    "Guide": [f"/{page.path}" for page in PAGES],
    "Carriers' errors": ["/docs/refusals"],
    "Changes": ["/docs/changelog"],
    "Reference": ["/docs/reference"],
}


@pytest.fixture
def sections(nobody: Nobody) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(nobody.get("/docs/search.json").content)
    return found


def test_every_page_is_searched(sections: list[dict[str, Any]]) -> None:
    assert {section["page"] for section in sections} == set(PATHS)
    assert all(set(section) == {"url", "page", "title", "text"} and section["title"] for section in sections)
    assert len({section["url"] for section in sections}) == len(sections)


@pytest.mark.parametrize("page", ["Guide", "Carriers' errors", "Changes"])
def test_every_section_is_on_its_page(page: str, sections: list[dict[str, Any]], nobody: Nobody) -> None:
    ids = {f"{path}#{each}" for path in PATHS[page] for each in Elements(nobody.get(path)).ids}
    urls = [section["url"] for section in sections if section["page"] == page]
    assert {url.partition("#")[0] for url in urls} == set(PATHS[page])
    assert set(urls) <= ids


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
