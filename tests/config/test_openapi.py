"""The API's description: valid, complete, current, and served to anyone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.urls import get_resolver
from openapi_spec_validator import OpenAPIV31SpecValidator
from pytest_django.fixtures import Settings

from carriers import CARRIERS
from carriers.trials import Stage
from config.docs.guide import PAGES
from config.docs.openapi.document import METHODS, as_yaml, example, failures, generate, source
from config.docs.openapi.views import FILE
from labels.ids import LABEL_ID_LENGTH
from labels.order_rules import MAX_ITEMS, MAX_PARCELS, MAX_WEIGHT_KG
from labels.points import MAX_KG, MAX_LIMIT, PICKUP_PRODUCTS, WEEKDAYS
from labels.serializers import MAX_REFERENCE_LENGTH, ignored_header
from parcels.models import MAX_KEY_LENGTH
from parcels.queries import SEARCH_LIMIT
from shops.api.errors.coded import CODES
from shops.api.errors.plain import PLAIN_ERRORS, SEARCH_WITHOUT_FILTER
from shops.api.paths import TRACKING
from shops.webhooks.claims import DEADLINE_S
from shops.webhooks.event_types import EVENT_TYPES
from shops.webhooks.models import DeliveryState
from shops.webhooks.public_addresses import MAX_URL_LENGTH
from shops.webhooks.retries import MAX_ATTEMPTS
from tests.shops.commands import refused
from tests.support.api import Nobody
from tests.support.paths import patterns

Json = dict[str, Any]
CLIENTS = list(CARRIERS.values())
# Not part of the API: pages for people, and for machines that operate the service.
NOT_THE_API = {"admin", "^public/", "openapi.json", "openapi.yaml", "livez", "readyz"}
NOT_THE_API |= {
    "",
    *(page.path for page in PAGES),
    "docs/refusals",
    "docs/reference",
    "docs/parcels.http",
    "docs/changelog",
}
NOT_THE_API |= {"docs/search.json", "docs/postman.json", "llms.txt"}


WEBHOOK_ROUTES = (
    *("events", "webhooks", "webhook", "webhook-secret"),
    *("webhook-test", "webhook-replay", "webhook-deliveries"),
)


@pytest.fixture(scope="module")
def document() -> Json:
    return generate()


def names_of_routes() -> list[str]:
    found = patterns(get_resolver().url_patterns)
    return [each.name or "" for route, each in found if not (route in NOT_THE_API or route.startswith("admin/"))]


def parts(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each part of a JSON value with its path."""
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in items:
        yield from parts(part, f"{path}/{name}")


def operations(document: Json) -> list[Json]:
    return [operation for path in document["paths"].values() for operation in path.values()]


def test_the_file_is_current(document: Json) -> None:
    assert as_yaml(document) == FILE.read_bytes(), "run: make openapi"


def test_a_file_that_cant_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.management.commands.openapi.FILE", tmp_path)
    assert refused("openapi") == f"{tmp_path} can't be written: Is a directory"


def test_what_is_written_by_hand_is_what_the_code_says(document: Json) -> None:
    schemas, paths = document["components"]["schemas"], document["paths"]
    properties = {name: schema.get("properties", {}) for name, schema in schemas.items()}
    parameters = {
        (operation["operationId"], parameter["name"]): parameter["schema"]
        for operation in operations(document)
        for parameter in operation.get("parameters", ())
    }
    for name in ("Label", "ListedLabel"):
        assert properties[name]["weight"]["maximum"] == MAX_PARCELS * MAX_WEIGHT_KG
    assert properties["ListedParcel"]["weight"]["maximum"] == MAX_WEIGHT_KG
    assert properties["ListedLabel"]["reference"]["maxLength"] == MAX_REFERENCE_LENGTH
    assert properties["ListedParcel"]["reference"]["maxLength"] == MAX_REFERENCE_LENGTH
    assert properties["LabelOrder"]["reference"]["maxLength"] == MAX_REFERENCE_LENGTH
    assert properties["LabelOrder"]["reference"]["maxLength"] == max(each.max_reference_length for each in CLIENTS)
    codes = "|".join(each.pickup_point_code.pattern for each in CLIENTS)
    assert properties["LabelOrder"]["pickupPointCode"]["pattern"] == f"^({codes})?$"
    assert properties["PickupPoint"]["pickupPointCode"]["pattern"] == f"^({codes})$"
    assert properties["LabelOrder"]["parcels"]["maxItems"] == MAX_PARCELS
    assert properties["Customs"]["items"]["maxItems"] == MAX_ITEMS
    ids = [properties[name]["id"] for name in ("Label", "ListedLabel", "Cancellation")]
    ids += [parameters[name, "labelId"] for name in ("retrieveLabel", "cancelLabel")]
    ids.append(document["components"]["headers"]["LabelId"]["schema"])
    assert {each["pattern"] for each in ids} == {f"^[0-9A-Z]{{{LABEL_ID_LENGTH}}}$"}
    moments = [parameters["listLabels", "createdFrom"], parameters["listLabels", "createdTo"]]
    assert {each["pattern"] for each in (*moments, properties["Replay"]["since"])} == {moments[0]["pattern"]}
    assert properties["PickupPoints"]["data"]["maxItems"] == MAX_LIMIT
    assert list(properties["OpeningHours"]) == list(WEEKDAYS)
    stages = [stage.value for stage in Stage]
    assert properties["OrderProblem"]["from"]["enum"] == properties["OrderCheck"]["checked"]["items"]["enum"] == stages
    assert parameters["findPickupPoints", "weight"]["maximum"] == MAX_KG
    finding = paths[f"{TRACKING}/pickup-points"]["get"]["description"]
    assert ", ".join(f"`{code}`" for code in PICKUP_PRODUCTS) in finding
    assert parameters["lookUpParcel", "trackingNumber"]["maxLength"] == MAX_KEY_LENGTH
    searching = paths[f"{TRACKING}/search"]["get"]
    assert f"At most {SEARCH_LIMIT} are returned" in searching["description"]
    assert searching["responses"]["200"]["content"]["application/json"]["schema"]["maxItems"] == SEARCH_LIMIT
    assert properties["Error"]["message"]["examples"] == [SEARCH_WITHOUT_FILTER.message]
    told = properties["ShopEvent"]["type"]["enum"], properties["Delivery"]["type"]["enum"]
    assert told == (list(EVENT_TYPES), list(EVENT_TYPES))
    assert properties["Webhook"]["eventTypes"]["items"]["enum"] == list(EVENT_TYPES)
    assert properties["Webhook"]["url"]["maxLength"] == MAX_URL_LENGTH
    assert properties["Delivery"]["state"]["enum"] == DeliveryState.values
    received = source()["webhook"]["responses"]
    assert f"within {DEADLINE_S:g} seconds" in received["2XX"]["description"]
    assert f", {MAX_ATTEMPTS} times in all" in received["default"]["description"]
    failed = EVENT_TYPES["label.failed"]["fields"].items()
    assert example("event")["data"] == {name: field["example"] for name, field in failed}
    assert document["components"]["headers"]["Allow"]["schema"]["examples"] == list(METHODS.values())


@pytest.mark.parametrize("status", ["400", "413"])
def test_a_webhooks_body_is_not_described_as_an_order(status: str, document: Json) -> None:
    described = [
        operation["responses"][status]["description"]
        for path, methods in document["paths"].items()
        for operation in methods.values()
        if "/webhooks" in path and "requestBody" in operation
    ]
    assert len(described) == 3
    assert not any(" order " in text for text in described)


def test_a_detail_of_a_field_is_of_one_that_exists(document: Json) -> None:
    for name, schema in source()["components"]["schemas"].items():
        assert (
            schema.get("properties", {}).keys() <= document["components"]["schemas"][name].get("properties", {}).keys()
        )


def test_it_is_valid_openapi_3_1(document: Json) -> None:
    assert document["openapi"] == "3.1.1"
    OpenAPIV31SpecValidator(document).validate()


def test_no_field_of_an_orders_example_is_ignored(document: Json) -> None:
    content = document["paths"][f"{TRACKING}/shipments"]["post"]["requestBody"]["content"]["application/json"]
    orders = [each["value"] for each in content["examples"].values()]
    assert [ignored_header(order, sender_address=example("sender")) for order in orders] == [{}] * len(orders)


def test_validators_that_divide_take_every_amount(document: Json) -> None:
    """A JavaScript validator finds 19.99 to be 1998.9999999999998 times 0.01."""
    steps = [step for path, step in parts(document) if path.endswith("/multipleOf")]
    assert [step for step in steps if isinstance(step, float)] == []


def test_every_route_is_described(document: Json) -> None:
    described = {operation["operationId"] for operation in operations(document)}
    assert names_of_routes() == [
        *("parcel", "parcel-search", "order-check", "labels", "label", "label-cancellation"),
        *("pickup-points", *WEBHOOK_ROUTES, "label-file"),
    ]
    assert described == {
        *("lookUpParcel", "searchParcels", "openLabelPdf", "findPickupPoints"),
        *("buyLabel", "listLabels", "retrieveLabel", "cancelLabel", "checkOrder"),
        *("listEvents", "listWebhooks", "createWebhook", "retrieveWebhook", "changeWebhook", "deleteWebhook"),
        *("rotateWebhookSecret", "testWebhook", "replayWebhook", "listDeliveries"),
    }
    assert len(document["paths"]) == len(names_of_routes())


def test_every_field_and_every_parameter_has_a_meaning_and_an_example(document: Json) -> None:
    for name, schema in document["components"]["schemas"].items():
        for field, part in schema.get("properties", {}).items():
            assert part.get("description"), (name, field)
            assert "examples" in part or field == "code", (name, field)
    for operation in operations(document):
        assert operation["summary"]
        assert operation["description"]
        for parameter in operation.get("parameters", ()):
            assert parameter["description"]
            assert parameter["examples"]


def test_every_answer_has_all_its_fields_and_may_get_more(document: Json) -> None:
    answered = {"Parcel", "Destination", "LineItem", "Event", "CarrierStatus", "DeliveryWindow", "Label", "Error"}
    answered |= {"PickupPoints", "PickupPoint", "OpeningHours", "Closure"}
    answered |= {"LabelList", "ListedLabel", "ListedParcel", "Cancellation"}
    answered |= {"EventFeed", "ShopEvent", "Webhook", "NewWebhookSecret", "WebhookList", "LastDelivery"}
    answered |= {"WebhookSecret", "TestSent", "Queued", "Delivery", "DeliveryList"}
    answered |= {"OrderCheck", "OrderProblem", "DeliveryDays"}
    schemas = document["components"]["schemas"]
    complete = {name for name, each in schemas.items() if each.get("required") == list(each.get("properties", ()))}
    assert complete == answered - {"Error"}  # the code of an error
    assert not [path for path, _ in parts(document) if "additionalProperties" in str(path)]


def test_every_error_of_the_table_is_described_somewhere() -> None:
    named = {entry.name for one in operations(source()) for entries in failures(one).values() for entry in entries}
    assert named == CODES.keys() | PLAIN_ERRORS.keys()


def test_every_error_is_described_with_its_own_status() -> None:
    for one in operations(source()):
        for status, entries in failures(one).items():
            for entry in entries:
                assert status in entry.statuses, entry.name


def test_a_token_is_needed_for_all_but_the_pdfs(document: Json) -> None:
    for operation in operations(document):
        assert operation["security"] == ([{}] if operation["operationId"] == "openLabelPdf" else [{"accessToken": []}])


def test_no_text_speaks_of_the_code(document: Json) -> None:
    for path, text in parts(document):
        if isinstance(text, str):
            assert "specification" not in text, path
            assert "None" not in text, path


@pytest.mark.parametrize(
    ("path", "content_type"), [("/openapi.json", "application/json"), ("/openapi.yaml", "application/yaml")]
)
def test_anyone_may_read_it_and_caches_may_keep_it(
    path: str, content_type: str, nobody: Nobody, settings: Settings
) -> None:
    settings.RATE_LIMIT = (1, 86_400)
    for _ in range(3):
        response = nobody.get(path)
        assert response.status_code == 200
    assert response["Content-Type"] == content_type
    assert response["Cache-Control"] == "public, max-age=300"
    assert "RateLimit" not in response.headers
    read = json.loads if path.endswith("json") else yaml.safe_load
    assert read(response.content) == yaml.safe_load(FILE.read_bytes())
    again = nobody.get(path, headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert nobody.request("HEAD", path).status_code == 200
    assert nobody.request("POST", path).status_code == 405
