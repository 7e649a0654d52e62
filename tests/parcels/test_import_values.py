"""Values of an import: a wrong type is a bad line that names the field; good values are answered unchanged."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from parcels.models import Parcel
from tests.parcels.lines import line, refused, snapshot
from tests.support.api import Caller
from tests.support.cases import in_one_test
from tests.support.factories import (
    INTERNAL_FIELDS,
    PUBLIC_FIELDS,
    DestinationFactory,
    EventFactory,
    LineItemFactory,
    ParcelLineFactory,
    ShopFactory,
    import_lines,
    import_parcel,
)

pytestmark = pytest.mark.any_database


def of(name: str, *values: Any) -> list[tuple[str, Any]]:
    return [(name, value) for value in values]


def of_part(part: str, name: str, *values: Any) -> list[tuple[str, str, Any]]:
    return [(part, name, value) for value in values]


STRINGS = ["orderId", "orderNumber", "trackingId", "carrierCode", "id"]
NULLABLE_STRINGS = ["carrierProduct", "carrierDisplayName", "customerEmail", "customerLocale", "webTemplate"]
TIMES = ["createdAt", "updatedAt"]
NULLABLE_TIMES = ["lastStatusUpdatedAt", "deliveryDate", "endDepositDate"]
NOT_A_STRING: list[Any] = [1, 1.5, True, [], {}, ["a"], "nul\0", "x" * 1001]
NOT_A_TIME: list[Any] = ["1790000000000", 1.5, 1.0, True, -1, 2**63, [], {}, "", 1e30, 0, 1_790_000_000]
WRONG: list[tuple[str, Any]] = [
    *((name, value) for name in (*STRINGS, *NULLABLE_STRINGS) for value in NOT_A_STRING),
    *((name, None) for name in (*STRINGS, *TIMES)),
    *((name, value) for name in (*TIMES, *NULLABLE_TIMES) for value in NOT_A_TIME),
    *of("lastStatus", "", "delivered", "DELIVERED ", 1, [], "UNKNOWN"),
    *of("trackingNumbers", None, "N1", {}, [1], [None], [""], ["nul\0"], [["N1"]], ["x" * 256], ["N1/"]),
    *of("trackingId", "N1/"),
    *of("id", ".", ".."),
    *of("carrierLastStatus", "", [], {}, {"code": "a"}, 1),
    ("carrierLastStatus", {"code": 1, "description": "", "date": 1}),
    ("carrierLastStatus", {"code": "", "description": "", "date": "1"}),
    *of("estimatedDeliveryDateWindow", "", [], {}, 1),
    ("estimatedDeliveryDateWindow", {"exactDeliveryDay": 1, "minimumDeliveryDate": 1.5, "maximumDeliveryDate": 1}),
    *of("destination", None, [], "", {}),
    *of("lineItems", None, {}, "", [None], [1], [{}], [[]]),
    *of("events", None, {}, "", [None], [1], [{}], [[]]),
    *of("previousEmails", "", {}, [1], [None]),
    *of("crossSellRecommendations", "", {}, 1),
]
WRONG_PARTS: list[tuple[str, str, Any]] = [
    *(
        ("destination", name, value)
        for name in ("firstName", "company", "address1", "city", "zip", "province", "country", "name")
        for value in (None, 1, ["a"], "nul\0")
    ),
    *of_part("destination", "countryCode", None, "", "fr", "FRA", "F1", 1),
    *of_part("destination", "phone", None, "0619724389", "phone", 33619724389),
    *of_part("destination", "latitude", "48.1", True, [], 4839, -90.5),
    *of_part("destination", "longitude", "2.3", True, [], 180.1, -1e9),
    *of_part("destination", "isPickupPoint", None, 0, "false"),
    *of_part("lineItems[0]", "quantity", None, "1", 1.5, True),
    *of_part("lineItems[0]", "price", None, "9.95", True, 1e40),
    *(
        ("lineItems[0]", "imageUrl", value)
        for value in (
            *(None, "", "no url", "javascript:alert(1)", "ftp://a.example/b", 1, "http:///path", "//a.example/b"),
            *("http://a b/", "http://a.example/\n", "http://a.example/\x7f", "http://[::1/", "http://a.example:port/"),
        )
    ),
    *of_part("lineItems[0]", "sku", None, 1),
    *of_part("events[0]", "status", None, "", "LOST", 1),
    *of_part("events[0]", "createdAt", None, "1", 1.5, -1),
    *of_part("events[0]", "carrierStatusCode", 1, []),
    *of_part("events[0]", "isNotificationSkipped", None, 1),
    *of_part("events[0]", "notifications", None, {}, ""),
]
PARTS: dict[str, Callable[..., Any]] = {
    "destination": lambda **fields: DestinationFactory() | fields,
    "lineItems[0]": lambda **fields: [LineItemFactory() | fields],
    "events[0]": lambda **fields: [EventFactory() | fields],
}


@in_one_test("name, value", WRONG)
def test_a_value_of_another_type_is_a_bad_line(name: str, value: Any, db: None) -> None:
    [(number, reason)] = refused(ShopFactory(), orjson.dumps(ParcelLineFactory() | {name: value}))
    assert number == 1
    assert reason.startswith(name)


@in_one_test("part, name, value", WRONG_PARTS)
def test_a_value_of_another_type_in_a_part_is_a_bad_line(part: str, name: str, value: Any, db: None) -> None:
    parcel = ParcelLineFactory() | {part.partition("[")[0]: PARTS[part](**{name: value})}
    [(_, reason)] = refused(ShopFactory(), orjson.dumps(parcel))
    assert reason.startswith(f"{part}.{name}: ")


@pytest.mark.parametrize(
    "name", [name for name in PUBLIC_FIELDS if name not in {"carrierProduct", "carrierDisplayName"}]
)
def test_a_field_left_out_is_a_bad_line_or_null(name: str, own: Caller) -> None:
    parcel = ParcelLineFactory()
    if parcel[name] is None or name.startswith(("last", "carrierLast", "estimated")):
        del parcel[name]
        import_lines(own.shop, [orjson.dumps(parcel)])
        assert own.look_up(parcel["trackingId"]).json()[name] is None
    else:
        del parcel[name]
        [(_, reason)] = refused(own.shop, orjson.dumps(parcel))
        assert reason == f"{name}: is required."


def test_internal_fields_may_be_left_out(own: Caller) -> None:
    parcel = {name: value for name, value in ParcelLineFactory().items() if name in PUBLIC_FIELDS}
    assert import_lines(own.shop, [orjson.dumps(parcel)]) == 1
    assert own.look_up(parcel["trackingId"]).json() == {"shopId": "own"} | parcel


def test_internal_fields_may_be_null(own: Caller) -> None:
    import_lines(own.shop, [orjson.dumps(ParcelLineFactory() | dict.fromkeys(INTERNAL_FIELDS))])
    parcel = Parcel.objects.get()
    assert (parcel.previous_emails, parcel.cross_sell_recommendations) == ([], [])
    assert (parcel.customer_email, parcel.customer_locale, parcel.gift_config, parcel.web_template) == (None,) * 4


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://x/y",
            "https://img_1.example.com/a.jpg",
            "http://localhost:8080/a",
            "HTTPS://a.example",
            "http://[::1]",
        ),
        *("https://a.example/é?b=1#c", "https://u:p@a.example/(1),[2].jpg", "http://192.0.2.1/"),
    ],
)
def test_any_http_url_is_a_picture(url: str, own: Caller) -> None:
    parcel = import_parcel(own.shop, lineItems=[LineItemFactory(imageUrl=url)])
    assert own.look_up(parcel["trackingId"]).json()["lineItems"][0]["imageUrl"] == url


@in_one_test(
    "text",
    [
        *(b"{", b"}", b"not json", b'{"id": NaN}', b'{"price": Infinity}', b"[" * 100_000, b"\xff\xfe"),
        *(b'{"id": "\\ud800"}', b"{} {}", b"'a'", b"\0"),
    ],
)
def test_a_line_that_is_no_json_is_a_bad_line(text: bytes, db: None) -> None:
    [(number, reason)] = refused(ShopFactory(), text)
    assert number == 1
    assert "is not valid JSON" in reason


@pytest.mark.parametrize("name", ["price", "latitude"])
def test_a_number_beyond_all_bounds_is_a_bad_line(name: str, db: None) -> None:
    text = line(lineItems=[LineItemFactory(price=123.0)], destination__latitude=456.0)
    text = text.replace(b"123.0", b"1e999").replace(b"456.0", b"-1e999")
    assert len(refused(ShopFactory(), text)) == 1


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("lineItems[0].price", {"lineItems": [LineItemFactory(price="here")]}),
        ("lineItems[0].metadata", {"lineItems": [LineItemFactory(metadata={"any": ["here"]})]}),
        ("giftConfig", {"giftConfig": {"any": "here"}}),
    ],
)
def test_an_integer_that_would_lose_digits_is_a_bad_line(name: str, fields: dict[str, Any], own: Caller) -> None:
    for number in (b"12345678901234567890123", b"-9223372036854775809"):
        [(_, reason)] = refused(own.shop, line(**fields).replace(b'"here"', number))
        assert reason.startswith(f"{name}: ")
        assert "over 64 bits" in reason or "must be from" in reason
    assert import_lines(own.shop, [line(**fields).replace(b'"here"', b"18446744073709551615")]) == 1


def test_a_parcel_has_at_most_a_thousand_events(own: Caller) -> None:
    assert import_lines(own.shop, [line(events=[EventFactory()] * 1000)]) == 1
    assert refused(own.shop, line(events=[EventFactory()] * 1001)) == [(1, "events: must have at most 1000 elements.")]


def test_a_long_number_in_a_text_is_a_text(own: Caller) -> None:
    parcel = import_parcel(own.shop, trackingId="00340434161094015902", lineItems=[LineItemFactory(price=0.1)])
    assert own.look_up("00340434161094015902").content == orjson.dumps(parcel)


@pytest.mark.parametrize(
    ("name", "levels", "inside"),
    [("giftConfig", 300, b""), ("crossSellRecommendations", 300, b""), ("", 1010, b"12345678901234567890")],
)
def test_json_nested_too_deeply_is_a_bad_line(name: str, levels: int, inside: bytes, db: None) -> None:
    text = line(**{name: "here"}).replace(b'"here"', b"[" * levels + inside + b"]" * levels)
    [(_, reason)] = refused(ShopFactory(), text)
    assert reason.startswith(name)
    assert "is nested too deeply" in reason


def test_numbers_are_answered_as_they_were_imported(own: Caller) -> None:
    prices = [0, 10, 10.0, 0.1, 9.95, 24.9, 1e-7, 123456789.99, 0.30000000000000004]
    parcel = import_parcel(
        own.shop, lineItems=[LineItemFactory(price=price, metadata={"any": [1, None, "x"]}) for price in prices]
    )
    assert own.look_up(parcel["trackingId"]).content == orjson.dumps(parcel)


def test_text_is_answered_as_it_was_imported(own: Caller) -> None:
    text = " Œuvre \u202e\U0001f4e6 \"quoted\" \\ / <b> \u2028 \x01 'l'été' "
    parcel = import_parcel(own.shop, orderId=text, destination__city=text, events=[EventFactory(label=text)])
    assert own.look_up(parcel["trackingId"]).content == orjson.dumps(parcel)


def test_unknown_fields_are_dropped_at_every_level(own: Caller) -> None:
    parcel = ParcelLineFactory()
    known = orjson.loads(orjson.dumps(parcel))
    parcel["unknown"] = parcel["destination"]["unknown"] = parcel["lineItems"][0]["unknown"] = "never seen again"
    parcel["events"][0]["unknown"] = parcel["carrierLastStatus"]["unknown"] = "never seen again"
    assert import_lines(own.shop, [orjson.dumps(parcel)]) == 1
    assert own.look_up(parcel["trackingId"]).json() == {"shopId": "own"} | {name: known[name] for name in PUBLIC_FIELDS}
    assert "never seen again" not in str(snapshot())


@pytest.mark.parametrize("shop_id", ["other", "absent", None, 1, {}])
def test_a_shop_named_in_a_line_is_ignored(shop_id: Any, own: Caller, other: Caller) -> None:
    parcel = ParcelLineFactory() | {"shopId": shop_id}
    assert import_lines(own.shop, [orjson.dumps(parcel)]) == 1
    assert own.look_up(parcel["trackingId"]).json()["shopId"] == "own"
    assert other.look_up(parcel["trackingId"]).status_code == 404
