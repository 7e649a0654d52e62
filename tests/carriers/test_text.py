"""Text in the form that each carrier prints, and the errors that name the field."""

import json
import re
import time
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carriers.alpha import messages as alpha_message
from carriers.beta import messages as beta_message
from carriers.errors import AddressRejected
from carriers.text import CarrierField, to_ascii, to_latin, to_plain
from tests.carriers.support.beta import lines
from tests.carriers.support.shipments import CREDENTIALS, shipment
from tests.support.cases import in_one_test

FIELD = CarrierField("alpha", "destinationAddress.city", 1000)


def alpha_fields(structure: str = "recipientValue", **order: Any) -> dict[str, str]:
    """Return one of the structures that alpha is sent."""
    message = ET.fromstring(alpha_message.purchase(shipment(**order), CREDENTIALS["alpha"]))
    element = message.find(f".//{structure}")
    assert element is not None
    return {child.tag: child.text or "" for child in element}


def beta_letter(product_code: str = "beta", **order: Any) -> dict[str, Any]:
    """Return the letter that beta is sent for the first parcel."""
    letter: dict[str, Any] = json.loads(json.dumps(beta_message.bodies(shipment(product_code, **order))[0]["letter"]))
    return letter


def beta_address(**recipient: str) -> dict[str, str]:
    address: dict[str, str] = beta_letter(recipient=recipient)["addressee"]["address"]
    return address


@in_one_test(
    "given_text, ascii_text",
    [
        ("œuvre Œ Cœur", "oeuvre Oe Coeur"),
        ("Straße ẞ", "Strasse Ss"),
        ("Ørsted København", "Orsted Kobenhavn"),
        ("Łódź", "Lodz"),
        ("İstanbul \u0131", "Istanbul i"),
        ("Æsir þing Ðorn", "Aesir thing Dorn"),
        ("Đặng Nguyễn Văn", "Dang Nguyen Van"),
        ("é ü ñ ç å ž ő ț ğ", "e u n c a z o t g"),
        ("e\u0301 cole", "e cole"),
        ("ﬁn ǆ ŉ", "fin dz n"),
        ("12/14 rue", "12 14 rue"),
        ("12½ rue", "12 1 2 rue"),
        ("m² nº 5", "m2 no 5"),
        ("l'Été, «là»; n°3 (fond) & Cie!", "l Ete la n 3 fond Cie"),
        ("l\u2019\u00c9t\u00e9", "l Ete"),
        ("12-14 rue de la Paix", "12-14 rue de la Paix"),
        ("7\u20139 rue", "7 9 rue"),
        ("銀座１ー２ー３ タワー", "YinZuo1 2 3 tawa"),
        ("12 - 14 rue", "12 14 rue"),
        ("Km 1,5", "Km 1 5"),
        ("3.5", "3 5"),
        ("A & B", "A B"),
        ("Saint-Denis, Anne-Marie", "Saint-Denis Anne-Marie"),
        ("-Saint--Denis- -x", "Saint Denis x"),
        ("Œuvre-Été", "Oeuvre-Ete"),
        ("5€20", "5 20"),
        ("col·legi", "col legi"),
        ("\U0001f3f3\ufe0f\u200d\U0001f3089", "9"),
        ("12⅓5", "12 1 3 5"),
        ("\u02bbokina \ue000x\uffff", "okina x"),
        ("a\u00a0b\u2009c\td\ne", "a b c d e"),
        ("zero\u200bwidth\u202e \u200b nul\x00 \n", "zerowidth nul"),
        ("\uff26\uff55\uff4c\uff4c", "Full"),
        ("1ᵉʳ étage, 2⁴", "1er etage 24"),
        ("\U0001d401\U0001d428\U0001d42b\U0001d41d\U0001d41e\U0001d7d2", "Borde4"),
        ("12⅓", "12 1 3"),
        ("😀 Paris ☃", "Paris"),
        ("Αθήνα, οδός 12-14", "Athina odos 12-14"),
        ("Съединение", "Sedinenie"),
        ("北京 1-2", "BeiJing 1-2"),
        ("서울", "SeoUl"),
        ("\u110a\u1165\u110b\u116e\u11af \u304b\u3099 \u0438\u0306", "SseoUl ga y"),  # in parts
        ("दिल्ली", "dilli"),
        ("٣ μ", "3 m"),
        ("李\U00020002王", "Li Wang"),  # nobody spells the second
        ("a\u3034b", "a b"),
    ],
)
def test_every_letter_becomes_ascii_for_alpha(given_text: str, ascii_text: str) -> None:
    assert to_ascii(given_text) == ascii_text


def test_thousands_of_accents_take_no_time() -> None:
    text = "e" + "\u0301" * 4000 + "\u0323" * 4000  # to be sorted, which takes a square
    started_s = time.process_time()
    assert to_ascii(text) == "e"
    assert time.process_time() - started_s < 0.05


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        *((text, text) for text in ("Œuvre, n°3 (l'été) & Cie", "Łódź İstanbul Đặng", "Ærø ½ m² ß")),
        ("l\u2019\u00c9t\u00e9 \u2013 \u201cla\u201d", 'l\'Été - "la"'),
        *((text, "école") for text in ("e\u0301cole", "e\u200b\u0301cole")),  # an accent finds its letter
        (" a \u200b b\x00 \n", "a b"),
        ("1ᵉʳ \U0001d401\U0001d7d2", "1er B4"),
        ("\uff30\uff41\uff52\uff49\uff53, 2\u207f", "Paris, 2n"),
    ],
)
def test_beta_prints_latin_letters_and_plain_punctuation(text: str, printed: str) -> None:
    assert to_latin(text, FIELD) == printed


@pytest.mark.parametrize("text", ["Москва", "Αθήνα", "北京", "東京 1-2", "القاهرة", "Paris Ж", "서울", "μ"])
def test_other_scripts_are_refused_by_beta(text: str) -> None:
    for fold in (to_plain, to_latin):
        with pytest.raises(AddressRejected, match=r"^destinationAddress\.city: only Latin"):
            fold(text, FIELD)


# Some are named for a letter, and are none.
@pytest.mark.parametrize("text", ["😀", "☃", "→", "٣", "Ⓐ", "\U0001f170", "⒜", "✝", "x\u0363"])
def test_symbols_without_a_glyph_are_refused_by_beta(text: str) -> None:
    with pytest.raises(AddressRejected):
        to_latin(text, FIELD)


@given(st.text())
def test_whatever_alpha_is_sent_are_words_of_ascii_that_may_have_hyphens_inside(text: str) -> None:
    assert re.fullmatch(r"(|[A-Za-z0-9]+([ -][A-Za-z0-9]+)*)", to_ascii(text))


@given(st.text(alphabet="ab12é-\u2013'&°, /", max_size=60))
def test_no_symbol_joins_what_it_kept_apart(text: str) -> None:
    words = re.split(r"[^ab12é]+", text)
    assert re.split(r"[ -]", to_ascii(text)) == [word.replace("é", "e") for word in words if word] or not any(words)


@given(st.text(alphabet=st.characters(min_codepoint=0xC0, max_codepoint=0x17F, categories=["Lu", "Ll"])))
def test_no_latin_letter_is_lost_for_alpha(text: str) -> None:
    assert len(to_ascii(text).replace(" ", "")) >= len(text)


@pytest.mark.parametrize(
    ("address1", "address2", "lines"),
    [
        ("3 rue Foch", "", ("3 rue Foch", None)),
        ("3 rue Foch", "Escalier B", ("3 rue Foch", "Escalier B")),
        ("128 avenue du Marechal de Lattre de Tassigny", "", ("128 avenue du Marechal de Lattre de", "Tassigny")),
        (
            "128 avenue du Marechal de Lattre de Tassigny",
            "Escalier B",
            ("128 avenue du Marechal de Lattre de", "Tassigny Escalier B"),
        ),
        (
            "128-130 avenue du Maréchal de Lattre de Tassigny",
            "Escalier B",
            ("128-130 avenue du Marechal de Lattre", "de Tassigny Escalier B"),
        ),
        ("x" * 38, "y" * 38, ("x" * 38, "y" * 38)),
        ("x" * 38 + " " + "y" * 38, "", ("x" * 38, "y" * 38)),
    ],
)
def test_an_address_is_wrapped_to_alphas_two_lines(address1: str, address2: str, lines: tuple[str, str | None]) -> None:
    fields = alpha_fields(recipient={"address1": address1, "address2": address2})
    assert (fields["recipientAdress1"], fields.get("recipientAdress2")) == lines


LATTRE_DE = "128 avenue du Maréchal de Lattre de"


@pytest.mark.parametrize(
    ("address1", "address2", "printed"),
    [
        ("3 rue Foch", "", {"line2": "3 rue Foch"}),
        ("3 rue Foch", "Escalier B", {"line2": "3 rue Foch", "line3": "Escalier B"}),
        ("x" * 35 + " 12", "", {"line2": "x" * 35, "line3": "12"}),
        ("x" * 35 + " 12", "Escalier B", {"line2": "x" * 35, "line3": "12 Escalier B"}),
        ("3 rue Foch", "y" * 35, {"line2": "3 rue Foch", "line3": "y" * 35}),
        (f"{LATTRE_DE} Tassigny", "z" * 26, {"line2": LATTRE_DE, "line3": "Tassigny " + "z" * 26}),
    ],
)
def test_an_address_is_wrapped_to_betas_lines(address1: str, address2: str, printed: dict[str, str]) -> None:
    assert lines(beta_address(address1=address1, address2=address2)) == printed


LONG = {
    "alpha": [
        ({"address1": "x" * 39}, "address1: does not fit into 2 lines of 38 characters"),
        ({"address1": "mot " * 30}, "address1: "),
        ({"address1": "x" * 38, "address2": "y" * 38 + " z"}, "address2: "),
        ({"address1": "///"}, "address1: "),
        ({"address1": "3 rue Foch", "address2": "z" * 39}, "address2: is longer than the 38 characters"),
        ({"address1": "x" * 38 + " y", "address2": "z" * 37}, "address2: is longer than the 36 characters"),
        ({"address1": "x" * 38 + " 12 bis", "address2": "z" * 32}, "address2: is longer than the 31 characters"),
        ({"address1": "x" * 38 + " " + "y" * 38, "address2": "z"}, "address2: is longer than the 0 characters"),
        (
            {"address1": "128-130 avenue du Maréchal de Lattre de Tassigny", "address2": "x" * 27},
            "address2: is longer than the 26 characters",
        ),
        ({"city": "x" * 51}, "city: is longer than the 50 characters"),
        ({"city": "-"}, "city: "),
        ({"zip_code": "1234567890"}, "zip: is longer than the 9 characters"),
        ({"last_name": "x" * 100}, "lastName: "),
        ({"first_name": "x" * 200}, "firstName: "),
        ({"last_name": "!", "first_name": ""}, "lastName: "),
        ({"company": "x" * 101}, "company: is longer than the 100 characters"),
    ],
    "beta": [
        ({"address1": "x" * 36}, "address1: "),
        ({"address1": "mot " * 30}, "address1: "),
        ({"address1": " "}, "address1: "),
        ({"address2": "z" * 36}, "address2: "),
        ({"address2": "mot " * 30}, "address2: "),
        ({"address1": "x" * 35 + " 12", "address2": "z" * 33}, "address2: "),
        ({"city": "x" * 36}, "city: "),
        ({"city": ""}, "city: "),
        ({"last_name": "x" * 36}, "lastName: "),
        ({"first_name": "x" * 30}, "firstName: "),
        ({"first_name": ""}, "lastName: "),
        ({"company": "x" * 36}, "company: "),
        ({"city": "Москва"}, "city: "),
    ],
}


@pytest.mark.parametrize("path", ["originAddress", "destinationAddress"])
@in_one_test("carrier, changes, said", [(c, *case) for c in LONG for case in LONG[c]])
def test_text_that_does_not_fit_is_an_error_that_names_the_field(
    carrier: str, changes: dict[str, str], said: str, path: str
) -> None:
    party: dict[str, Any] = {"sender" if path == "originAddress" else "recipient": {"company": ""} | changes}
    with pytest.raises(AddressRejected) as caught:
        alpha_fields(**party) if carrier == "alpha" else beta_letter(**party)
    assert caught.value.field == f"{path}.{said.partition(':')[0]}"
    assert str(caught.value).startswith(f"{path}.{said}")
    assert caught.value.code == f"{carrier.upper()}_ADDRESS_REJECTED"


@pytest.mark.parametrize(
    ("zip_code", "country", "sent"),
    [
        ("10001-1234", "US", "10001"),  # 10 characters; the first part is a whole code
        ("1100-200", "PT", "1100-200"),
        ("D02-AF30", "IE", "D02 AF30"),
        ("sw1a 1aa", "GB", "sw1a 1aa"),
    ],
)
def test_a_postal_code_keeps_its_hyphen_where_it_fits(zip_code: str, country: str, sent: str) -> None:
    fields = alpha_fields(product_code="alpha_express_world", recipient={"zip_code": zip_code, "country_code": country})
    assert fields["recipientZipCode"] == sent


@pytest.mark.parametrize("path", ["originAddress", "destinationAddress"])
@pytest.mark.parametrize("carrier", ["alpha", "beta"])
def test_all_wrong_fields_are_named_at_once(carrier: str, path: str) -> None:
    wrong = {"first_name": "李", "last_name": "王" * 51, "address1": "x" * 39, "zip_code": "☃", "city": "北" * 51}
    names = ("company" if carrier == "alpha" else "firstName", "lastName", "address1", "zip", "city")
    wrong |= {"company": "x" * 101} if carrier == "alpha" else {}
    order: dict[str, Any] = {"sender" if path == "originAddress" else "recipient": wrong, "reference": "заказ" * 36}
    with pytest.raises(AddressRejected) as caught:
        alpha_fields(**order) if carrier == "alpha" else beta_letter(**order)
    said = str(caught.value)
    named = [f"{path}.{name}" for name in names]
    assert [said.count(f"{field}: ") for field in (*named, "reference")] == [1] * 6
    assert said.count(": ") == 6


@given(st.text(alphabet="ab é/ß", max_size=90), st.text(alphabet="cd œ,", max_size=90))
def test_wrapping_loses_no_word(address1: str, address2: str) -> None:
    try:
        fields = alpha_fields(recipient={"address1": address1, "address2": address2})
    except AddressRejected:
        return
    lines = [fields["recipientAdress1"], fields.get("recipientAdress2", "")]
    assert all(len(line) <= 38 for line in lines)
    assert " ".join(lines).split() == f"{to_ascii(address1)} {to_ascii(address2)}".split()
