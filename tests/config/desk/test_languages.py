"""French and English: no text without a French one, and an API that knows no language; test_roles reads the pages."""

import io
import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import trans_real

from carriers import CARRIERS
from labels.lifecycle.states import TRANSITIONS
from labels.templatetags.label_page import STATES
from parcels.figures.models import ParcelFigure
from shops.staff.display_texts import number, percentage
from tests.labels.factories import LabelFactory
from tests.support import pseudo
from tests.support.api import Caller
from tests.support.desk import FRENCH, member, routes, rows
from tests.support.factories import import_parcel
from tests.support.paths import PARCELS, SEARCH

CATALOGUE = Path(settings.LOCALE_PATHS[0], "fr", "LC_MESSAGES", "django.po")

FRENCH_WORDS = {
    "/admin/": ["Livrés"],
    "/admin/labels/shippinglabel/": ["Par remise", "Par commande", "Inconnue"],
    "/admin/parcels/parcel/": ["Par remise", "Par création"],
    "/admin/shops/auditentry/": ["Quand"],
}


def test_every_text_that_is_marked_has_a_french_one_and_the_compiled_catalogue_is_that_of_the_texts() -> None:
    with CATALOGUE.open("rb") as file:
        texts = read_po(file)
    french = vars(trans_real.translation("fr"))["_catalog"]  # Django's and the packages' own among them
    marked = set(pseudo.marked_texts(settings.BASE_DIR)) | {each.says for each in TRANSITIONS.values()}
    marked |= {carrier.credentials_shape.meaning for carrier in CARRIERS.values()}
    marked |= {row["meaning"] for row in STATES.values()}
    assert {text for text in marked if text.strip() and text not in french and (text, 0) not in french} == set()
    compiled = io.BytesIO()
    write_mo(compiled, texts)
    assert CATALOGUE.with_suffix(".mo").read_bytes() == compiled.getvalue(), "run `make messages`"


def test_french_texts_have_french_apostrophes() -> None:
    assert re.findall(r"^(?:msgstr\S* )?\".*[a-z]'[a-zéèêà].*", CATALOGUE.read_text("utf-8"), re.MULTILINE) == []


def test_no_line_of_a_french_text_begins_with_a_mark() -> None:
    with CATALOGUE.open("rb") as file:
        french = [message.string for message in read_po(file) if message.id]
    texts = [text for each in french for text in ([each] if isinstance(each, str) else each or ())]
    assert [text for text in texts if re.search("[^ ] [:;?!»](?= |$)|« ", text)] == []


@pytest.mark.django_db
def test_sheets_have_french_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = member("root")
    pseudo.install(monkeypatch)
    for name, address in routes(rows()):
        if name.endswith("_csv"):
            titles = browser.get(address, headers=FRENCH).getvalue().decode().splitlines()[0]
            assert list(pseudo.untranslated(titles.lstrip("\ufeff"), pseudo.SAME)) == [], name


def test_the_browsers_language_is_taken_unless_one_is_chosen(db: None) -> None:
    browser = Client()
    login = "/admin/account/login/"
    assert "Log in</button>" in browser.get(login, headers={"Accept-Language": "de, en-US;q=0.8"}).text
    assert "Connexion" in (page := browser.get(login, headers=FRENCH).text)
    assert 'lang="en-gb">British English</button>' in page
    chosen = browser.post("/admin/language/", {"language": "en-gb", "next": login}, headers=FRENCH)
    assert (chosen.status_code, chosen["Location"]) == (302, login)
    assert "Log in</button>" in browser.get(login, headers=FRENCH).text
    browser.post("/admin/language/", {"language": "fr", "next": "https://elsewhere.example/"})
    assert "Connexion" in browser.get(login).text


def test_no_answer_of_the_api_changes_with_the_language(own: Caller) -> None:
    staff = member("root")
    for path in (f"{SEARCH}?orderName=1", SEARCH, f"{PARCELS}nothing", f"{SEARCH}?limit=x"):
        answers = []
        for language in ("en", "fr", "fr-FR,fr;q=0.9"):
            staff.get("/admin/", headers=FRENCH)  # the thread has just spoken French
            answer = own.get(path, headers={"Accept-Language": language})
            answers.append((answer.status_code, re.sub(rb'"timestamp":"[^"]*"', b"", answer.content)))
            assert "Content-Language" not in answer
        assert answers[0] == answers[1] == answers[2]


def test_numbers_shares_and_days_are_in_the_readers_form() -> None:
    with translation.override("fr"):
        assert percentage(30.94, 1) == "30,9\xa0%"
        assert number(1234567) == "1\xa0234\xa0567"
        assert number(Decimal("12.5"), 3) == "12,500"
        assert date_format(date(2026, 8, 1), "DATE_FORMAT") == "01/08/2026"
    shown = (number(1234567), number(Decimal("12.5"), 3), percentage(30.94, 1))
    assert shown == ("1,234,567", "12.500", "30.9%")


@pytest.mark.django_db
def test_a_user_name_has_one_name_in_french() -> None:
    answer = Client().post("/admin/account/login/", {"login": "nobody", "password": "x"}, headers=FRENCH)
    assert "Le nom d\u2019utilisateur ou le mot de passe est incorrect." in answer.text  # allauth's own is `pseudo`


def test_a_passkey_has_one_name_in_french() -> None:
    with translation.override("fr"):
        texts = map(translation.gettext, ("Use a security key", "Security key added.", "Security key removed."))
        assert [text for text in texts if "lé d\u2019accès" not in text] == []  # allauth's own is `clé secrète`


@pytest.mark.django_db
def test_french_words_go_with_what_they_are_said_of() -> None:
    label = LabelFactory(state="unknown")
    import_parcel(label.shop)
    staff = member("root")
    for address, words in FRENCH_WORDS.items():
        page = re.sub(r"\s+", " ", staff.get(address, headers=FRENCH).text)
        assert [each for each in words if f"> {each} <" not in page and f">{each}<" not in page] == [], address
    assert 'title="Oui"' in staff.get("/admin/shops/shop/", headers=FRENCH).text


@pytest.mark.django_db
def test_the_note_above_a_form_counts_its_errors() -> None:
    staff = member("root")
    for form, english, french in (
        ("shop", "the error", "l\u2019erreur"),
        ("webhookendpoint", "the errors", "les erreurs"),
    ):
        assert f"Please correct {english} below." in staff.post(f"/admin/shops/{form}/add/", {}).text
        answer = staff.post(f"/admin/shops/{form}/add/", {}, headers=FRENCH)
        assert f"Corrigez {french} ci-dessous." in answer.text


@pytest.mark.django_db
def test_figures_of_the_first_page_are_named_in_french() -> None:
    ParcelFigure.objects.create(day=timezone.localdate(), carrier_code="beta", status="DELIVERED", parcels=3)
    page = member("root").get("/admin/", headers=FRENCH).text
    assert '<th scope="col">Statut</th><th scope="col">colis</th>' in page


@pytest.mark.django_db
def test_permissions_are_named_in_french() -> None:
    root, group = member("root"), Group.objects.get(name="Support")
    for page in (f"/admin/auth/user/{User.objects.get().pk}/change/", f"/admin/auth/group/{group.pk}/change/"):
        text = root.get(page, headers=FRENCH).text
        assert "Boutiques | boutique | Voir les données personnelles des clients" in text
        assert "Colis | numéro de suivi | modifier" in text
        assert "| Can " not in text
    shown = member("Accounts").get(f"/admin/auth/group/{group.pk}/change/", headers=FRENCH).text
    assert "Colis | numéro de suivi | modifier" in shown
    assert "| Can " not in shown


def test_scripts_of_the_desk_have_no_words_of_their_own() -> None:
    scripts = [path for path in Path(settings.BASE_DIR).glob("*/static/**/*.js") if "docs" not in path.parts]
    assert scripts
    assert [text for path in scripts for text in re.findall(r'textContent = ["`].*', path.read_text("utf-8"))] == []
