"""The documentation's pages: their answers and content, and that they load nothing from other hosts."""

import gzip
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.contrib.staticfiles import finders
from django.test import Client, override_settings

from carriers import CARRIERS
from carriers.products import PRODUCTS
from carriers.sandbox.faults import FAULTS
from config.docs.examples import LANGUAGES
from config.docs.guide import FOLDER, ORIGIN_MARK, PAGES, PLACEHOLDER, Page
from config.docs.openapi.views import FILE, as_json
from parcels.models import TrackingStatus
from shops.api.errors.coded import CODES
from shops.api.errors.plain import PLAIN_ERRORS
from shops.webhooks.sending import OTHER_REASON, REASONS
from shops.webhooks.signing import sign
from tests.support.api import Nobody, Response
from tests.support.cases import in_one_test
from tests.support.markup import parsed
from tests.support.paths import SHIPMENTS
from tests.support.processes import ROOT

GUIDE = [f"/{page.path}" for page in PAGES]
HTML = [*GUIDE, "/docs/refusals", "/docs/changelog", "/docs/reference"]
SERVED = ["/docs", "/docs/reference", "/docs/parcels.http", "/docs/search.json", "/llms.txt"]
VECTOR = re.compile(r"^webhook-id: (.+)\nwebhook-timestamp: (.+)\nwebhook-signature: (.+)\n\n(.+)$", re.MULTILINE)
ADDRESS = re.compile(r"(?<![\w./*])(/(?:docs|openapi|llms)\b(?:[/.][a-z]+)*)(?:#([\w-]+))?")


class Elements:
    """A page's elements in order, as their name and attributes."""

    def __init__(self, response: Response) -> None:
        root = parsed(response.content.decode())
        self.found = [(str(each.tag), dict(each.attrib)) for each in root.iter("*")]
        self.ids: list[str] = root.xpath("//@id")
        self.texts = [each.text_content() for each in root.iter("td", "dd", "code")]

    def all(self, *tags: str) -> list[dict[str, Any]]:
        return [attributes for tag, attributes in self.found if tag in tags]


@in_one_test("path", SERVED)
def test_a_page_is_for_everyone_and_for_caches(path: str, nobody: Nobody) -> None:
    response = nobody.get(path)
    assert response.status_code == 200
    assert response["Cache-Control"] == "public, max-age=60"
    assert response["Vary"] == "Accept-Encoding"
    assert not response.cookies
    assert "'unsafe" not in response["Content-Security-Policy"]
    assert response["Content-Security-Policy"].startswith("default-src 'none'; ")
    again = nobody.get(path, headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again["Vary"] == "Accept-Encoding"


@in_one_test("path", SERVED)
def test_a_page_is_compressed_for_clients_that_accept_it(path: str, nobody: Nobody) -> None:
    plain, small = nobody.get(path), nobody.get(path, headers={"Accept-Encoding": "gzip"})
    assert small["Content-Encoding"] == "gzip"
    assert gzip.decompress(small.content) == plain.content
    again = nobody.get(path, headers={"Accept-Encoding": "gzip", "If-None-Match": small["ETag"]})
    assert again.status_code == 304


@in_one_test("path", SERVED)
def test_a_page_is_read_only(path: str, nobody: Nobody) -> None:
    for method, status in (("HEAD", 200), ("POST", 405), ("PUT", 405), ("DELETE", 405)):
        response = nobody.request(method, path)
        assert (response.status_code, response.content) == (status, b""), method


@in_one_test("path", [*SERVED, "/", "/openapi.json", "/openapi.yaml"])
def test_another_method_is_405_without_a_csrf_check(path: str) -> None:
    response = Client(enforce_csrf_checks=True).post(path)
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")


def test_the_root_leads_to_the_guide(nobody: Nobody) -> None:
    response = nobody.get("/")
    assert (response.status_code, response["Location"]) == (302, "/docs")


@pytest.mark.parametrize("path", ["/docs/", "/docs/other", "/other"])
def test_another_path_is_a_page_that_says_so(path: str, nobody: Nobody) -> None:
    response = nobody.get(path)
    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")


@in_one_test("path", HTML)
def test_a_page_takes_nothing_from_another_host(path: str, nobody: Nobody, db: None) -> None:
    elements = Elements(nobody.get(path))
    addresses = [attributes["src"] for attributes in elements.all("script", "img") if attributes]
    addresses += [attributes["href"] for attributes in elements.all("link")]
    assert len(addresses) >= 2
    for address in addresses:
        assert address.startswith("/static/")
        file = nobody.get(address)
        file.close()
        assert file.status_code == 200
    assert not elements.all("style", "iframe")
    assert not [attributes for _, attributes in elements.found if "style" in attributes or "onclick" in attributes]


@in_one_test("path", HTML)
def test_every_link_leads_somewhere(path: str, nobody: Nobody) -> None:
    elements = Elements(nobody.get(path))
    assert len(set(elements.ids)) == len(elements.ids)
    found = cache(nobody.get)
    ids_of = cache(lambda page: set(Elements(found(page)).ids))
    for link in elements.all("a"):
        page, _, anchor = link["href"].partition("#")
        assert found(page or path).status_code == 200, page
        assert not anchor or anchor in ids_of(page or path), anchor


@in_one_test("path", HTML)
def test_a_page_has_its_landmarks_and_one_title(path: str, nobody: Nobody) -> None:
    elements = Elements(nobody.get(path))
    assert elements.all("html") == [{"lang": "en"}]
    assert len(elements.all("main")) == len(elements.all("title")) == len(elements.all("h1")) == 1
    assert elements.all("a")[0] == {"class": "skip", "href": "#main"}
    assert len({tuple(attributes.items()) for attributes in elements.all("nav")}) == len(elements.all("nav"))


def text_of(static_file: str) -> str:
    path = finders.find(static_file)
    assert path
    return Path(path).read_text(encoding="utf-8")


def test_swagger_ui_still_has_what_the_reference_builds_on() -> None:
    """Its parts are named in our script, its classes in our style sheet; a release may rename them."""
    folder = "drf_spectacular_sidecar/swagger-ui-dist/"
    script, style = text_of(folder + "swagger-ui-bundle.js"), text_of(folder + "swagger-ui.css")
    ours = text_of("docs/reference.js")
    for name in (
        *("SwaggerUIBundle", "SvgAssets", "AuthorizeBtnContainer", "operations"),
        *("Models", "examples-select-element"),
    ):
        assert name in script
        assert name in ours
    assert "html.dark-mode" in style
    for name in (".scheme-container", ".opblock-summary-method", ".parameter__extension", "table.headers"):
        assert name in style


@in_one_test("path", HTML)
def test_without_scripts_there_is_no_search(path: str, nobody: Nobody) -> None:
    (search,) = Elements(nobody.get(path)).all("form")
    assert "hidden" in search


@in_one_test("page", PAGES)
def test_a_choice_of_language_needs_no_script_and_hides_no_example(page: Page, nobody: Nobody) -> None:
    elements = Elements(nobody.get(f"/{page.path}"))
    choices = [each for each in elements.all("input") if each["type"] == "radio"]
    groups = {each["name"]: [other for other in choices if other["name"] == each["name"]] for each in choices}
    assert len(groups) == len(elements.all("fieldset"))
    for group in groups.values():
        assert len(group) > 2
        assert ["checked" in each for each in group] == [True] + [False] * (len(group) - 1)
    assert {each["for"] for each in elements.all("label")} == {each["id"] for each in choices}
    assert [each["value"] for each in choices] == [
        each["data-language"] for each in elements.all("div") if "data-language" in each
    ]
    assert len(elements.all("pre")) == page.source.read_text(encoding="utf-8").count("\n```") / 2
    style = text_of("docs/docs.css")
    assert all(f'[value="{language}"]:checked ~ [data-language="{language}"]' in style for language in LANGUAGES)


@in_one_test("path", GUIDE)
def test_no_heading_skips_a_level(path: str, nobody: Nobody) -> None:
    levels = [int(tag[1]) for tag, _ in Elements(nobody.get(path)).found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(following <= level + 1 for level, following in pairwise(levels))


@in_one_test("path", GUIDE)
def test_every_part_that_scrolls_sideways_is_reached_by_keyboard(path: str, nobody: Nobody) -> None:
    elements = Elements(nobody.get(path))
    scrolling = elements.all("pre") + [each for each in elements.all("div") if each.get("class") == "table"]
    assert scrolling
    assert all(attributes["tabindex"] == "0" for attributes in scrolling)


def test_the_tables_hold_everything_there_is(nobody: Nobody) -> None:
    pages = {page.name: Elements(nobody.get(f"/{page.path}")) for page in PAGES}
    assert {text for elements in pages.values() for text in elements.texts} >= {
        *PRODUCTS,
        *CARRIERS,
        *TrackingStatus.values,
        *(fault.name.upper() for fault in FAULTS),
    }
    assert not any(PLACEHOLDER.search(page.text.body) for page in PAGES)


def test_each_error_that_can_be_answered_has_a_place_with_its_cause_and_what_to_do(nobody: Nobody) -> None:
    elements = Elements(nobody.get("/docs/errors"))
    for error in (*CODES.values(), *PLAIN_ERRORS.values()):
        cause, remedy = (text.replace("`", "") for text in (error.cause, error.remedy))
        cause = re.sub(r"\b(alpha|beta)\b", "the carrier", cause)
        assert cause[0].upper() + cause[1:] in elements.texts
        assert f"What to do: {remedy}" in elements.texts
    assert {each["id"] for each in elements.all("code") if "id" in each} == set(CODES)
    assert {each["id"] for each in elements.all("q")} == set(PLAIN_ERRORS)


def test_the_examples_have_the_address_that_the_page_is_read_at(nobody: Nobody) -> None:
    text = nobody.get("/docs/labels", headers={"Host": "localhost:8123"}, SERVER_PORT="8123").content.decode()
    assert "http://localhost:8123/files/labels/" in text
    assert ORIGIN_MARK not in text
    assert "127.0.0.1" not in text
    with override_settings(PUBLIC_BASE_URL="https://parcels.example/"):
        text = nobody.get("/docs/labels").content.decode()
    assert "https://parcels.example/files/labels/" in text


def test_the_guide_is_read_without_the_database(nobody: Nobody) -> None:
    """It answers when nothing else does; without the ``db`` fixture a query would fail."""
    assert nobody.get("/docs").status_code == 200


def test_every_link_for_programs_leads_to_a_page(nobody: Nobody) -> None:
    links = re.findall(r"\((http://testserver\S*)\)", nobody.get("/llms.txt").content.decode())
    assert len(links) == 7 + len(PAGES)
    assert {nobody.get(link.removeprefix("http://testserver")).status_code for link in links} == {200}


def test_the_guide_is_turned_page_by_page(nobody: Nobody) -> None:
    path, read = "/docs", []
    while path:
        read.append(path)
        elements = Elements(nobody.get(path))
        turns = {each["rel"]: each["href"] for each in elements.all("a") if "rel" in each}
        assert turns.get("prev") == (read[-2] if len(read) > 1 else None)
        assert [each["href"] for each in elements.all("a") if each.get("aria-current") == "page"] == ["/docs", path]
        path = turns.get("next", "")
    assert read == GUIDE


def test_an_anchor_of_the_guide_is_on_one_page_only(nobody: Nobody) -> None:
    """Those of the one page that it was lead on by their name."""
    ids = [each for path in GUIDE for each in Elements(nobody.get(path)).ids if not each.startswith("language-")]
    assert {each for each in ids if ids.count(each) > 1} == {"main"}


def test_each_reason_of_a_failed_delivery_has_its_cause_and_what_to_do(nobody: Nobody) -> None:
    reasons = {name for _, name in REASONS} | {OTHER_REASON, "http_3xx", "http_4xx", "http_5xx"}
    assert reasons <= set(Elements(nobody.get("/docs/webhooks")).texts)


def test_the_guide_says_what_to_do_at_each_status_of_an_order(nobody: Nobody) -> None:
    answers = orjson.loads(as_json())["paths"][SHIPMENTS]["post"]["responses"]
    page = parsed(nobody.get("/docs/retries").content.decode())
    told = {status for cell in page.xpath("//tr/td[1]") for status in re.findall(r"\b[45]\d\d\b", cell.text_content())}
    assert told >= {status for status in answers if status >= "4"}


def test_every_address_that_answers_the_description_and_the_readme_name_leads_somewhere(nobody: Nobody) -> None:
    errors = [f"{error.message} {error.cause} {error.remedy}" for error in (*CODES.values(), *PLAIN_ERRORS.values())]
    texts = [*errors, FILE.read_text(), (ROOT / "README.md").read_text(), *(page.source.read_text() for page in PAGES)]
    named = {found for text in texts for found in ADDRESS.findall(text)}
    assert named >= {("/openapi.json", ""), ("/docs/refusals", ""), ("/docs/errors", "EVENTS_GONE")}
    for path, anchor in named:
        response = nobody.get(path)
        assert response.status_code == 200, path
        assert not anchor or anchor in Elements(response).ids, anchor


def test_the_test_vector_is_signed_as_we_sign() -> None:
    found = VECTOR.search((FOLDER / "webhooks.md").read_text(encoding="utf-8"))
    assert found
    message_id, sent_at, signature, body = found.groups()
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    assert sign(message_id, int(sent_at), body.encode(), keys=[secret]) == signature
