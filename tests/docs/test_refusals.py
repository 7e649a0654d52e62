"""The page of the carriers' error codes: all that the carriers document, in the words of this API."""

import re

import pytest
from rest_framework.serializers import ListSerializer, Serializer

from carriers import CARRIERS
from config.docs.generated_tables import REFUSALS
from labels.serializers import LabelOrderSerializer
from shops.api.errors.coded import CODES
from tests.carriers.support.pages import CODES as DOCUMENTED
from tests.carriers.support.pages import FIELDS
from tests.support.api import Nobody
from tests.support.markup import parsed

HEADINGS = {"purchase": "labels", "pickup point": "pickup-points", "cancellation": "cancellations"}


@pytest.fixture
def tables(nobody: Nobody) -> dict[str, list[list[str]]]:
    """The cells of each table, row by row, under the id of the heading before it."""
    page = parsed(nobody.get("/docs/refusals").content.decode())
    found = {}
    for table in page.iter("table"):
        heading = table.xpath("(preceding::h2 | preceding::h3)[last()]/@id")[0]
        found[heading] = [[cell.text_content() for cell in row.iter("td")] for row in table.xpath(".//tr[td]")]
    return found


def table_of(tables: dict[str, list[list[str]]], carrier: str, operation: str) -> list[list[str]]:
    return tables[f"{HEADINGS[operation]}-of-{carrier}"]


@pytest.mark.parametrize(("carrier", "operation"), DOCUMENTED)
def test_every_documented_code_has_an_answer_a_cause_and_a_remedy(
    carrier: str, operation: str, tables: dict[str, list[list[str]]]
) -> None:
    rows = table_of(tables, carrier, operation)
    told = {each: row for row in rows for each in row[0].split()}
    assert set(DOCUMENTED[carrier, operation]) <= set(told)
    for carrier_code, (_, answer, _, cause, remedy) in told.items():
        assert cause, carrier_code
        assert remedy, carrier_code
        assert not (cause + remedy).endswith("."), carrier_code  # more follows it in an error
        if operation != "cancellation":
            status, name = answer.split()
            assert int(status) == CODES[name].statuses[0]
            assert name.startswith(f"{carrier.upper()}_")


def test_the_page_has_a_table_for_each_operation_of_each_carrier(tables: dict[str, list[list[str]]]) -> None:
    assert set(REFUSALS) == set(CARRIERS)
    operations = {(carrier, operation) for carrier in CARRIERS for operation in REFUSALS[carrier]}
    assert operations == set(DOCUMENTED)
    assert len(tables) == len(DOCUMENTED)


def test_the_page_says_what_a_shop_is_answered_to_a_refused_cancellation_and_in_a_search(nobody: Nobody) -> None:
    text = " ".join(parsed(nobody.get("/docs/refusals").content.decode()).text_content().split())
    assert "The API has no cancellations" not in text
    for told in ("LABEL_NOT_CANCELLABLE", "cancelling", "In a search", "..._UNAVAILABLE"):
        assert told in text


def test_every_field_that_is_named_is_one_of_the_api(tables: dict[str, list[list[str]]]) -> None:
    named = {row[2] for rows in tables.values() for row in rows} - {""}
    assert len(named) > 15
    for path in named:
        part: object = LabelOrderSerializer()
        for name in path.replace("[]", "").split("."):
            part = part.child if isinstance(part, ListSerializer) else part
            assert isinstance(part, Serializer), path
            assert name in part.fields, path
            part = part.fields[name]


def test_no_cause_and_no_remedy_uses_a_name_of_the_carriers(tables: dict[str, list[list[str]]]) -> None:
    told = [text for rows in tables.values() for row in rows for text in row[3:]]
    words = set(re.findall(r"\w+", " ".join(told)))
    assert not words & set(FIELDS)
