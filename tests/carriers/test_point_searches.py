"""Searches for pickup points on the wire: the requests as the pages have them, and answers of any kind."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from carriers.errors import CarrierError, CarrierUnavailable, CredentialsRejected, RequestRejected
from carriers.pickup_points import FoundPoints, PointQuery, joined
from carriers.products import PARIS
from carriers.shipment import Credentials
from tests.carriers.conftest import Serve
from tests.carriers.support.beta import JSON, bodies, near, refused
from tests.carriers.support.points import alpha_point, alpha_refused
from tests.carriers.support.servers import LoopbackServer, always, body_of, http
from tests.carriers.support.shipments import ALPHA_CONTRACT, CREDENTIALS, client

if TYPE_CHECKING:
    from carriers.base import Carrier

DAY = date(2026, 11, 25)
DECEMBER = {"Debut": "01", "Fin": "05"}
TOWN: dict[str, Any] = {"country_code": "FR", "zip_code": "69100", "city": "Villeurbanne", "day": DAY}
ALPHA = {"carrier_code": "86"} | TOWN
BETA = {"carrier_code": "HD"} | TOWN
SEARCH = "recherchePointChronopost"
QUERIES = {"alpha": ALPHA, "beta": BETA}


def alpha_found(*points: Mapping[str, Any], quality: str = "2", operation: str = SEARCH) -> bytes:
    """Return the answer to a search with copies of the recorded point, changed."""
    answers = [ET.fromstring(alpha_point(**changes)) for changes in points or ({},)]
    (result,) = answers[0].iter("return")
    for answer in answers[1:]:
        result.extend(answer.iter("listePointRelais"))
    for element in result.iter("qualiteReponse"):
        element.text = quality
    return http(ET.tostring(answers[0]).replace(b"rechercheDetailPointChronopost", operation.encode()))


class Point:
    """A point service with scripted answers, and a client of it."""

    def __init__(self, serve: Serve, carrier: str, *answers: bytes) -> None:
        self.server: LoopbackServer = serve(always(*answers))
        self.client: Carrier = client(carrier, "http://127.0.0.1:9", points_url=self.server.url)
        self.carrier = carrier

    def find(self, **changes: Any) -> FoundPoints:
        query = PointQuery(**QUERIES[self.carrier] | changes)
        return self.client.find_points(query, CREDENTIALS[self.carrier], nullcontext())

    def sent(self) -> dict[str, str]:
        operation = ET.fromstring(body_of(self.server.requests[-1]))[0][0]
        return {"operation": operation.tag.rpartition("}")[2]} | {child.tag: child.text or "" for child in operation}


def test_alpha_is_asked_as_the_page_has_it(serve: Serve) -> None:
    service = Point(serve, "alpha", alpha_found())
    service.find(address1="27 rue X, n°5", weight_kg=Decimal("1.2"))
    assert list(service.sent().items()) == [
        ("operation", "recherchePointChronopost"),
        *ALPHA_CONTRACT,
        ("address", "27 rue X n 5"),
        ("zipCode", "69100"),
        ("city", "Villeurbanne"),
        ("countryCode", "FR"),
        ("type", "P"),
        ("productCode", "86"),
        ("service", "T"),
        ("weight", "1200"),
        ("shippingDate", "25/11/2026"),
        ("maxPointChronopost", "25"),
        ("maxDistanceSearch", "40"),
        ("holidayTolerant", "1"),
    ]


def test_alpha_is_asked_abroad_without_an_address(serve: Serve) -> None:
    answer = alpha_found(operation=f"{SEARCH}Inter")
    service = Point(serve, "alpha", answer)
    service.find(carrier_code="4P", country_code="RE", city=" - ", address1="27 rue X")
    sent = service.sent()
    assert (sent["operation"], sent["countryCode"], sent["city"], sent["weight"]) == (
        "recherchePointChronopostInter",
        "REU",
        "69100",
        "2000",
    )
    assert (sent["language"], sent["version"]) == ("FR", "2.0")
    assert "address" not in sent


def test_a_postal_code_of_symbols_is_not_sent(serve: Serve) -> None:
    service = Point(serve, "alpha", alpha_refused(700, SEARCH))
    with pytest.raises(RequestRejected) as caught:
        service.find(zip_code="--", city="--")
    assert (caught.value.field, service.server.requests) == ("zip", [])


@pytest.mark.parametrize("zip_code", ["L-1616", "\ufeffLU 1616", "\uff2c-\uff11\uff16\uff11\uff16"])
def test_beta_is_asked_for_a_postal_code_of_letters_and_digits(serve: Serve, zip_code: str) -> None:
    service = Point(serve, "beta", near())
    service.find(zip_code=zip_code, country_code="LU")
    assert bodies(service.server)[0]["zipCode"] == "1616"


def test_shop_direct_is_asked_without_lockers(serve: Serve) -> None:
    service = Point(serve, "alpha", alpha_found())
    assert service.find(carrier_code="5X").points
    assert service.sent()["type"] == "C"


def test_a_locker_that_comes_all_the_same_is_left_out_for_shop_direct(serve: Serve) -> None:
    locker = alpha_found().replace(b"listeHoraireOuverture>", b"other>")
    for code, count in (("5X", 0), ("86", 1)):
        assert len(Point(serve, "alpha", http(body_of(locker))).find(carrier_code=code).points) == count


def test_beta_is_asked_as_the_page_has_it(serve: Serve) -> None:
    service = Point(serve, "beta", near())
    service.find(address1="27 rue X", weight_kg=Decimal("1.2"))
    service.find(zip_code="1012 JL", country_code="NL", weight_kg=Decimal("20.1"))
    first, second = bodies(service.server)
    assert first == {
        "accountNumber": "804735",
        "password": "s3cret-Pass",
        "address": "27 rue X",
        "zipCode": "69100",
        "city": "Villeurbanne",
        "countryCode": "FR",
        "weight": "1200",
        "shippingDate": "25/11/2026",
        "filterRelay": "1",
        "optionInter": "0",
        "lang": "FR",
    }
    assert (second["zipCode"], second["filterRelay"], second["optionInter"]) == ("1012JL", "0", "1")


def test_distances_count_only_where_the_address_was_found(serve: Serve) -> None:
    far, near = {"distanceEnMetre": "900"}, {"identifiant": "1235B", "distanceEnMetre": "20"}
    for quality, expected in (("2", [("1235B", 20), ("1234A", 900)]), ("1", [("1234A", None), ("1235B", None)])):
        points = Point(serve, "alpha", alpha_found(far, near, quality=quality)).find().points
        assert [(point.code, point.distance_m) for point in points] == expected
    assert Point(serve, "alpha", alpha_found(quality="0")).find().points == []


def test_the_recorded_point_is_read_whole(serve: Serve) -> None:
    (point,) = Point(serve, "alpha", alpha_found()).find().points
    assert (point.latitude, point.longitude, point.kind) == (43.6045, 1.444, "relay")
    assert point.opening_hours == ((("08:15", "12:00"),), (), (), (), (), (), ())  # its text says more than its list


@pytest.mark.parametrize(
    "changes",
    [
        {"nom": ""},
        {"nom": "☕"},
        {"identifiant": ""},
        {"identifiant": "ABCDE"},
        {"actif": "false"},
        {"poidsMaxi": "1"},
        {"localite": None},
    ],
)
def test_a_relay_that_no_order_can_name_is_left_out_alone(serve: Serve, changes: dict[str, str | None]) -> None:
    service = Point(serve, "alpha", alpha_found(changes, {"identifiant": "1235B"}))
    assert [point.code for point in service.find(weight_kg=Decimal("1.2")).points] == ["1235B"]


@pytest.mark.parametrize(
    "changes", [{"nom": None}, {"typeDePoint": ""}, {"identifiant": "12"}, {"congesTotal": True}, {"poidsMaxi": 900}]
)
def test_a_record_that_no_order_can_name_is_left_out_alone(serve: Serve, changes: dict[str, Any]) -> None:
    service = Point(serve, "beta", near(**changes))
    assert [point.code for point in service.find(weight_kg=Decimal("1.2")).points] == ["001234"]


def test_a_day_without_a_list_is_open_as_its_text_says(serve: Serve) -> None:
    day = "<listeHoraireOuverture><horairesAsString>{}</horairesAsString><jour>{}</jour></listeHoraireOuverture>"
    week = day.format("14:00-19:30 08:00-12:30", 2) + day.format("00:00-00:00 00:00-00:00", 7)
    answer = body_of(alpha_found()).replace(b"<localite>", week.encode() + b"<localite>")
    (point,) = Point(serve, "alpha", http(answer)).find().points
    assert point.opening_hours is not None
    assert (point.opening_hours[1], point.opening_hours[6]) == ((("08:00", "12:30"), ("14:00", "19:30")), ())


def test_a_relay_whose_days_have_no_hours_is_closed_and_no_locker(serve: Serve) -> None:
    answer = http(body_of(alpha_found()).replace(b"debut>", b"other>"))
    (point,) = Point(serve, "alpha", answer).find().points
    assert (point.kind, point.opening_hours) == ("relay", ((),) * 7)


@pytest.mark.parametrize(
    "hours", [b"", b"<listeHoraireOuverture/>", b"<listeHoraireOuverture> </listeHoraireOuverture>"]
)
def test_a_point_without_any_day_is_a_locker(serve: Serve, hours: bytes) -> None:
    answer = body_of(alpha_found()).replace(b"listeHoraireOuverture>", b"other>")
    found = Point(serve, "alpha", http(answer.replace(b"<localite>", hours + b"<localite>"))).find().points
    assert [(point.kind, point.opening_hours) for point in found] == [("locker", None)]


def test_a_relay_takes_20_kg_in_whatever_unit_that_is_written(serve: Serve) -> None:
    for weight, most_kg in (("20", 20), ("20000", 20), ("15", 15)):
        (point,) = Point(serve, "alpha", alpha_found({"poidsMaxi": weight})).find().points
        assert point.max_weight_kg == most_kg


@pytest.mark.parametrize("name", ["calendar", "date"])
def test_a_relays_closures_are_read_under_both_of_their_names(serve: Serve, name: str) -> None:
    days = "".join(f"<{name}De{end}>2026-12-{day}T00:00:00+01:00</{name}De{end}>" for end, day in DECEMBER.items())
    closures = f"<listePeriodeFermeture>{days}</listePeriodeFermeture></listePointRelais>".encode()
    body = body_of(alpha_found())
    answer = http(body.replace(b"</listePointRelais>", closures))
    (point,) = Point(serve, "alpha", answer).find().points
    assert point.closures == ((date(2026, 12, 1), date(2026, 12, 5)),)
    assert Point(serve, "alpha", answer).find(day=date(2026, 12, 5)).points == []


@pytest.mark.parametrize("form", [str, float, " {}\n".format])
def test_betas_numbers_are_read_as_texts_too(serve: Serve, form: Callable[[Any], Any]) -> None:
    midnight_ms = int(datetime(2026, 12, 1, tzinfo=PARIS).timestamp() * 1000)
    place = {"coordGeolocalisationLatitude": form(45.5), "coordGeolocalisationLongitude": form(4.25)}
    changes = {"poidsMaxi": form(20000), "distanceEnMetre": form(7), **place}
    holiday = {"calendarDeDebut": form(midnight_ms), "calendarDeFin": form(midnight_ms)}
    answer = near(**changes, listeConges=[holiday])
    point = Point(serve, "beta", answer).find().points[0]
    assert (point.max_weight_kg, point.distance_m, point.latitude, point.longitude) == (Decimal(20), 7, 45.5, 4.25)
    assert point.closures == ((date(2026, 12, 1), date(2026, 12, 1)),)
    plain = http(body_of(answer).replace(b"coordGeolocalisationL", b"l"), content_type=JSON)  # the page's other names
    assert Point(serve, "beta", plain).find().points[0] == point
    assert point not in Point(serve, "beta", answer).find(weight_kg=Decimal(25)).points


@pytest.mark.parametrize(
    ("season", "is_known"), [(("10/11", "30/11"), True), (("01/10", "13/01"), True), (("10/03", "13/06"), False)]
)
def test_hours_of_another_season_are_unknown(serve: Serve, season: tuple[str, str], is_known: bool) -> None:
    first, last = season
    changes = {"periodeActiviteHoraireDeb": first, "periodeActiviteHoraireFin": last}
    (point, _) = Point(serve, "beta", near(**changes)).find().points
    assert (point.opening_hours is not None) is is_known


def test_spans_are_joined_and_unreadable_ones_left_out() -> None:
    spans = [("14:00", "18:00"), ("09:00", "12:00"), ("12:00", "13:00"), ("00:00", "00:00"), ("9h", "12h"), ("", "")]
    assert joined(spans) == (("09:00", "13:00"), ("14:00", "18:00"))


@pytest.mark.parametrize(
    ("spans", "shown"),
    [
        ([("18:00", "02:00")], [("18:00", "02:00")]),
        ([("20:00", "01:00"), ("08:00", "12:00")], [("08:00", "12:00"), ("20:00", "01:00")]),
        ([("08:00", "00:00")], [("08:00", "00:00")]),
        ([("08:00", "14:00"), ("14:00", "24:00")], [("08:00", "00:00")]),
        ([("00:00", "24:00")], [("00:00", "00:00")]),
        ([("00:00", "24:00"), ("18:00", "02:00")], [("00:00", "00:00")]),
        ([("08:00", "24:01"), ("24:00", "02:00"), ("12:00", "12:00")], []),
    ],
)
def test_hours_until_midnight_and_after_it_are_told(
    serve: Serve, spans: list[tuple[str, str]], shown: list[tuple[str, str]]
) -> None:
    for dash in ("-", " - "):
        texts = " ".join(f"{start}{dash}{end}" for start, end in spans)
        found = Point(serve, "beta", near(horairesOuvertureLundi=texts)).find().points
        assert found[0].opening_hours is not None
        assert found[0].opening_hours[0] == tuple(shown)
    days = "".join(f"<listeHoraireOuverture><debut>{a}</debut><fin>{b}</fin></listeHoraireOuverture>" for a, b in spans)
    day = f"<listeHoraireOuverture><jour>7</jour>{days}</listeHoraireOuverture><localite>".encode()
    (point,) = Point(serve, "alpha", http(body_of(alpha_found()).replace(b"<localite>", day))).find().points
    assert point.opening_hours is not None
    assert point.opening_hours[6] == tuple(shown)


@pytest.mark.parametrize(
    ("carrier", "code", "error", "field"),
    [
        ("alpha", 302, RequestRejected, "zip"),
        ("alpha", 306, RequestRejected, "shipDate"),
        ("alpha", 321, RequestRejected, "weight"),
        ("alpha", 300, RequestRejected, ""),
        *(("alpha", code, CarrierUnavailable, "") for code in (700, 999)),
        ("alpha", 1500, CredentialsRejected, ""),
        ("beta", 104, RequestRejected, "zip"),
        ("beta", 105, RequestRejected, "city"),
        *(("beta", code, CarrierUnavailable, "") for code in (106, 121, 124, 999, 1000)),
        ("beta", 125, RequestRejected, "countryCode"),
        ("beta", 145, RequestRejected, ""),
        ("beta", 201, CredentialsRejected, ""),
    ],
)
def test_every_code_has_its_class_and_names_the_parameter(
    serve: Serve, carrier: str, code: int, error: type[CarrierError], field: str
) -> None:
    answer = alpha_refused(code, SEARCH) if carrier == "alpha" else refused(code)
    with pytest.raises(CarrierError) as caught:
        Point(serve, carrier, answer).find()
    assert (type(caught.value), caught.value.field) == (error, field)


def test_no_point_is_an_empty_answer(serve: Serve) -> None:
    assert Point(serve, "alpha", alpha_refused(601, SEARCH)).find().points == []
    for code in (300, 301, 203, 146):
        assert Point(serve, "beta", refused(code)).find().points == []


@pytest.mark.parametrize("carrier", QUERIES)
@pytest.mark.parametrize("answer", [http(b"<html>", 503, "text/html"), http(b"{}", 200, JSON), http(b"", 200)])
def test_any_other_answer_is_a_failure(serve: Serve, carrier: str, answer: bytes) -> None:
    with pytest.raises(CarrierUnavailable):
        Point(serve, carrier, answer).find()


def test_a_customers_words_are_masked_in_a_carriers_text(serve: Serve) -> None:
    with pytest.raises(RequestRejected) as caught:
        Point(serve, "beta", refused(105, errorMessage="city Villeurbanne of 27 rue Secrète")).find(
            address1="27 rue Secrète"
        )
    assert caught.value.carrier_text == "city *** of ***"


def test_an_answer_tells_when_the_carrier_was_asked(serve: Serve) -> None:
    service = Point(serve, "beta", near())
    began_at = datetime.now(UTC)
    found = service.find()
    assert began_at <= found.asked_at <= datetime.now(UTC)
    again = service.client.find_points(PointQuery(**BETA), Credentials("other", "password"), nullcontext())
    assert again.asked_at == found.asked_at
    assert len(service.server.requests) == 1
