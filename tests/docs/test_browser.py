"""The documentation in a browser: axe finds no fault, it fits a phone, and its scripts do their work."""

from typing import Any

import pytest

from config.docs.guide import PAGES
from tests.support.browser import needs_browser, shown

pytestmark = pytest.mark.any_database

PHONE, DESK = 390, 1280
SCREEN = 844
SEARCH = """
  const key = (name) => {
    const pressed = new window.KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true });
    page.activeElement.dispatchEvent(pressed);
  };
  key("/");
  const input = page.activeElement;
  const results = async (query) => {
    page.querySelector(".found ul").replaceChildren();
    input.value = query;
    input.dispatchEvent(new window.Event("input"));
    await until(() => page.querySelector(".found a"));
    return [...page.querySelectorAll(".found a")].map((link) => link.getAttribute("href"));
  };
  const code = await results("address_rejected alpha");
  const field = await results("hsCode");
  const words = await results("same key");
  key("ArrowDown");
  const said = page.querySelector("[role=status]").textContent;
  return { code, field, words, said, focused: page.activeElement.getAttribute("href") };
"""
CHOICES = "[...page.querySelectorAll('.examples input:checked')].map((each) => each.value)"
CHOOSE = f"""
  window.localStorage.clear();
  const tab = page.querySelectorAll("input[value=php]")[1];
  tab.scrollIntoView({{ behavior: "instant" }});
  const before = tab.getBoundingClientRect().top;
  tab.click();
  return {{ chosen: {CHOICES}, moved: Math.round(tab.getBoundingClientRect().top - before) }};
"""
CHOSEN = f"return {{ chosen: {CHOICES} }};"
READ = """
  const marked = () => page.querySelector(".contents [aria-current=location]").textContent;
  const read = [marked()];
  const second = page.getElementById("errors-without-a-code");
  for (const top of [second.offsetTop - 100, page.documentElement.scrollHeight]) {
    window.scrollTo({ top, behavior: "instant" });
    window.dispatchEvent(new window.Event("scroll")); // without a screen there is no frame to fire it in
    read.push(marked());
  }
  return { read };
"""
LINKED = """
  const sections = await (await window.fetch("/docs/search.json")).json();
  const anchors = sections.map(({ url }) => url.split("/docs/reference#")[1]).filter(Boolean);
  await until(() => page.getElementById("schema-Parcel"));
  const isShown = (each) => page.getElementById(each)?.offsetParent;
  const tags = page.querySelectorAll(".opblock-tag-section:not(:has(.opblock))");
  const empty = [...tags].filter((each) => each.offsetParent);
  const headings = empty.map((each) => each.textContent);
  return { count: anchors.length, missing: anchors.filter((each) => !isShown(each)), headings };
"""
UNFOLD = """
  const operation = await until(() => page.querySelector("#operations-labels-buyLabel.is-open"));
  const rows = operation.querySelectorAll(".responses-table > tbody > .response").length;
  const height = page.documentElement.scrollHeight;
  operation.querySelector(".unfold").click();
  await until(() => operation.querySelectorAll(".responses-table > tbody > .response").length === rows + 1);
  return { rows, height };
"""
SCHEMA = "await until(() => page.querySelector('#schema-Parcel li'));"
MOVED = """
  const place = () => window.location.pathname + window.location.hash;
  await until(() => place() === "/docs/errors#ALPHA_UNAVAILABLE" && window.document.readyState === "complete");
"""
Visit = dict[str, tuple[str, int, str, str]]
# In this order, in one browser: what is chosen first is remembered afterwards.
GUIDE: Visit = {
    "choice": ("/docs/webhooks", PHONE, "dark", CHOOSE),
    "later": ("/docs/retries", DESK, "light", CHOSEN),
    "read": ("/docs/errors", DESK, "light", READ),
    "moved": ("/docs#ALPHA_UNAVAILABLE", DESK, "light", MOVED),
    "search": ("/docs/changelog", DESK, "light", SEARCH),
    "search on a phone": ("/docs/changelog", PHONE, "dark", SEARCH),
}
WHOLE: Visit = {
    **{page.name: (f"/{page.path}", PHONE, "light", "") for page in PAGES},
    "refusals": ("/docs/refusals", DESK, "dark", ""),
}
REFERENCE: Visit = {
    "reference": ("/docs/reference", PHONE, "light", LINKED),
    "operation": ("/docs/reference#operations-labels-buyLabel", PHONE, "dark", UNFOLD),
    "schema": ("/docs/reference#schema-Parcel", DESK, "light", SCHEMA),
}


def seen(visit: Visit, factory: pytest.TempPathFactory) -> dict[str, Any]:
    return dict(zip(visit, shown(list(visit.values()), factory.mktemp("browser")), strict=True))


@pytest.fixture(scope="module")
def seen_in_guide(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return seen(GUIDE, tmp_path_factory)


@pytest.fixture(scope="module")
def seen_in_reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return seen(REFERENCE, tmp_path_factory)


def assert_faultless(results: dict[str, Any]) -> None:
    assert {name: each for name, each in results.items() if each.get("failed") or each["found"]} == {}
    assert {name: each for name, each in results.items() if each["scrollWidth"] > each["width"]} == {}
    assert all(each["isDark"] == (each["theme"] == "dark") for each in results.values())


@needs_browser
def test_a_browser_finds_no_fault_in_any_page(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert_faultless(seen(WHOLE, tmp_path_factory))


@needs_browser
def test_a_browser_finds_no_fault_where_a_reader_does_something(seen_in_guide: dict[str, Any]) -> None:
    assert_faultless(seen_in_guide)


@needs_browser
def test_a_browser_finds_no_fault_in_the_reference(seen_in_reference: dict[str, Any]) -> None:
    assert_faultless(seen_in_reference)


@needs_browser
@pytest.mark.parametrize("name", ["search", "search on a phone"])
def test_the_search_finds_codes_fields_and_words(name: str, seen_in_guide: dict[str, Any]) -> None:
    told = seen_in_guide[name]["told"]
    assert told["code"][0] == "/docs/errors#ALPHA_ADDRESS_REJECTED"
    assert "/docs/reference#schema-CustomsItem" in told["field"]
    assert told["words"][0] == told["focused"]
    assert "/docs/retries#one-key-for-one-label" in told["words"]
    assert told["said"].endswith("sections")


@needs_browser
def test_a_language_is_chosen_once_for_all_examples(seen_in_guide: dict[str, Any]) -> None:
    assert set(seen_in_guide["choice"]["told"]["chosen"]) == {"php"}
    assert abs(seen_in_guide["choice"]["told"]["moved"]) <= 1
    assert set(seen_in_guide["later"]["told"]["chosen"]) == {"php"}


@needs_browser
def test_the_contents_mark_the_section_being_read(seen_in_guide: dict[str, Any]) -> None:
    assert seen_in_guide["read"]["told"]["read"] == ["Errors", "Errors without a code", "Limits"]


@needs_browser
def test_the_search_leads_to_every_operation_and_schema(seen_in_reference: dict[str, Any]) -> None:
    told = seen_in_reference["reference"]["told"]
    assert told["count"] > 25
    assert (told["missing"], told["headings"]) == ([], [])


@needs_browser
def test_errors_are_folded_so_an_operation_is_short_on_a_phone(seen_in_reference: dict[str, Any]) -> None:
    assert seen_in_reference["operation"]["told"]["rows"] == 1  # of thirteen answers
    assert seen_in_reference["reference"]["scrollHeight"] <= 6 * SCREEN
    assert seen_in_reference["operation"]["told"]["height"] <= 10 * SCREEN
