"""One sign-on: accounts and roles are those of the issuer, and nothing else of it is believed."""

import base64
import hmac
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount, SocialToken
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.contrib.auth.models import Group, User
from django.test import Client
from pytest_django.fixtures import Settings

from config.login.oidc import accounts
from config.login.oidc.issuer import IssuerSession
from shops.staff.audit.models import Action, AuditEntry
from tests.config.login.staff import FACTORS, LOGIN, Staff, give_password
from tests.labels.gates import during
from tests.support import issuer as issuers
from tests.support.api import Clock, Response, client
from tests.support.issuer import Issuer
from tests.support.threads import in_threads

pytestmark = pytest.mark.django_db
START, LINK = "/admin/account/sign-on/", "/admin/account/sign-on/link/"
BUTTON = "Log in with your organisation's sign-on"


@pytest.fixture
def issuer(settings: Settings) -> Iterator[Issuer]:
    with issuers.Issuer() as made:
        settings.OIDC_ISSUER, settings.ADMIN_MFA_REQUIRED = made.url, True
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = issuers.CLIENT, issuers.SECRET
        settings.OIDC_ROLES = {"logistics": "Operations", "finance": "Accounting", "helpdesk": "Support"}
        yield made


def sign_on(issuer: Issuer, browser: Client | None = None, start: str = START, **answer: str) -> Response:
    """Press the button and do what the issuer says."""
    browser = browser or client()
    led = browser.post(start)
    assert led.status_code == 302, led.text
    return browser.get(issuer.authorize(led["Location"], **answer))


def roles(user: User) -> list[str]:
    return sorted(user.groups.values_list("name", flat=True))


def refusals() -> list[str]:
    entries = AuditEntry.objects.filter(action=Action.SIGN_IN_FAILED).order_by("id")
    return [entry.details["reason"] for entry in entries]


def test_the_first_sign_on_makes_an_account_with_the_roles_of_its_groups(issuer: Issuer) -> None:
    issuer.claims |= {"email": "jane@work.example", "email_verified": True, "given_name": "Jane", "name": "Jane Q"}
    issuer.claims["groups"] = ["logistics", "finance", "choir"]
    browser = client()
    answer = sign_on(issuer, browser)
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert browser.get("/admin/").status_code == 200  # no second factor of ours
    jane = User.objects.get(username="jane")
    assert roles(jane) == ["Accounting", "Operations"]
    assert (jane.email, jane.first_name, jane.is_staff, jane.is_superuser) == ("jane@work.example", "Jane", True, False)
    assert not jane.has_usable_password()
    link = SocialAccount.objects.get(user=jane)
    assert (link.provider, link.uid, link.extra_data) == (issuer.url, "7", {})
    assert not SocialToken.objects.exists()
    entries = AuditEntry.objects.filter(object_id=str(jane.pk)).order_by("id")
    assert [entry.action for entry in entries] == [Action.ADDED, Action.CHANGED, Action.SIGNED_IN]
    assert {entry.actor for entry in entries} == {"jane"}
    assert entries[2].details["reason"] == "sign-on"


@pytest.mark.parametrize("step", ["check", "made"])
def test_a_first_sign_on_that_is_begun_twice_makes_one_account(
    step: str, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from two tabs: the other one ends while this one is checked."""
    during(monkeypatch, accounts, step, before=lambda *_: sign_on(issuer))
    assert sign_on(issuer)["Location"] == "/admin/"
    assert (User.objects.count(), SocialAccount.objects.count(), refusals()) == (1, 1, [])


@pytest.mark.real_services
def test_of_two_first_sign_ons_at_once_both_come_in(transactional_db: None, issuer: Issuer) -> None:
    assert {answer["Location"] for answer in in_threads(2, lambda _: sign_on(issuer))} == {"/admin/"}
    assert User.objects.count() == 1


def test_it_leads_to_the_page_that_was_asked_for_and_nowhere_else(issuer: Issuer) -> None:
    for path, target in (("/admin/shops/shop/", "/admin/shops/shop/"), ("https://elsewhere.example/", "/admin/")):
        browser = client()
        led = browser.post(START, {"next": path})
        assert browser.get(issuer.authorize(led["Location"]))["Location"] == target


def test_roles_follow_the_groups_at_each_sign_on(issuer: Issuer) -> None:
    sign_on(issuer)
    jane = User.objects.get(username="jane")
    jane.groups.add(Group.objects.get(name="Accounts"))
    issuer.claims["groups"] = "helpdesk"  # some issuers send one as a text
    issuer.claims["preferred_username"] = "jane.married"  # the `sub` decides
    sign_on(issuer)
    assert (roles(jane), User.objects.count()) == (["Support"], 1)
    change = AuditEntry.objects.filter(action=Action.CHANGED).first()
    assert change is not None
    assert change.changes == {"groups": [["Accounts", "Operations"], ["Support"]]}


@pytest.mark.parametrize("groups", [[], ["choir"], None, {"logistics": True}, 7])
def test_without_a_role_nobody_comes_in_and_no_account_is_made(issuer: Issuer, groups: Any) -> None:
    issuer.claims["groups"] = groups
    answer = sign_on(issuer)
    assert answer.status_code == 403
    assert "None of your groups has a role here." in answer.text
    assert (User.objects.count(), SocialAccount.objects.count()) == (0, 0)
    assert refusals() == ["sign-on: no role"]


def test_who_has_lost_all_groups_loses_roles_and_sessions(issuer: Issuer) -> None:
    browser = client()
    sign_on(issuer, browser)
    issuer.claims["groups"] = []
    assert sign_on(issuer).status_code == 403
    assert roles(User.objects.get()) == []
    assert browser.get("/admin/").status_code == 302


def test_groups_are_read_from_the_users_information_where_the_token_has_none(issuer: Issuer) -> None:
    del issuer.claims["groups"]
    issuer.userinfo["groups"] = ["finance"]
    assert sign_on(issuer).status_code == 302
    assert roles(User.objects.get()) == ["Accounting"]
    issuer.userinfo["sub"] = "8"
    assert sign_on(issuer).status_code == 403


def signed_with_the_public_key(issuer: Issuer) -> Callable[[str], str]:
    """Sign with, as a secret, what everybody knows, which a check by the token's own algorithm would take."""

    def id_token(nonce: str) -> str:
        issuer.key = ("a secret of thirty-two characters", "HS256", "es")
        content = Issuer.id_token(issuer, nonce).rpartition(".")[0]
        public = issuers.ES256.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        signature = base64.urlsafe_b64encode(hmac.digest(public, content.encode(), "sha256"))
        return f"{content}.{signature.decode().rstrip('=')}"

    return id_token


# What is another's about an issuer.
FORGERIES: dict[str, Callable[[Issuer], dict[str, Any]]] = {
    "unsigned": lambda _: {"key": ("", "none", "es")},
    "signed by a stranger": lambda _: {"key": (issuers.STRANGERS, "ES256", "es")},
    "signed with the public key": lambda issuer: {"id_token": signed_with_the_public_key(issuer)},
    "no ID token": lambda _: {"id_token": lambda nonce: ""},
    "a key of no known name": lambda _: {"key": (issuers.ES256, "ES256", "other")},
    "led elsewhere": lambda issuer: {"redirects_to": f"{issuer.url}/elsewhere"},
}
FAULTS: dict[str, dict[str, Any]] = {
    "issuer": {"iss": "https://other.example"},
    "audience": {"aud": "other"},
    "authorised party": {"aud": [issuers.CLIENT, "other"], "azp": "other"},
    "nonce": {"nonce": "other"},
    "expired": {"exp": int(time.time()) - 60},
    "not yet valid": {"nbf": int(time.time()) + 10**8},  # the suite may run for long
    "no end": {"exp": None},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_token_with_another_claim_lets_nobody_in(issuer: Issuer, fault: str) -> None:
    issuer.token = FAULTS[fault]
    assert_refused(sign_on(issuer))


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_token_that_the_issuer_did_not_sign_lets_nobody_in(issuer: Issuer, forgery: str) -> None:
    vars(issuer).update(FORGERIES[forgery](issuer))
    assert_refused(sign_on(issuer))
    assert "/elsewhere" not in issuer.asked


def assert_refused(answer: Response) -> None:
    assert (answer.status_code, User.objects.count(), refusals()) == (403, 0, ["sign-on: not valid"])
    assert "The sign-on did not answer, or not as it should." in answer.text


def test_a_token_of_rsa_is_taken_too(issuer: Issuer) -> None:
    issuer.key = (issuers.RS256, "RS256", "rs")
    assert sign_on(issuer).status_code == 302


def test_a_way_back_opens_once_and_in_the_browser_that_began_it(issuer: Issuer) -> None:
    browser = client()
    way = issuer.authorize(browser.post(START)["Location"])
    assert client().get(way).status_code == 403
    assert browser.get(way).status_code == 302
    assert browser.get(way).status_code == 403
    assert User.objects.count() == 1


def test_what_the_issuer_says_of_itself_has_to_be_its_own(issuer: Issuer, settings: Settings) -> None:
    for config in ({"issuer": "https://other.example"}, {"token_endpoint": None}, {"authorization_endpoint": ""}):
        issuer.config = config
        assert client().post(START).status_code == 403
    issuer.config = {"jwks_uri": "file:///etc/passwd"}
    assert sign_on(issuer).status_code == 403
    settings.OIDC_ISSUER = "http://127.0.0.1:9"
    assert client().post(START).status_code == 403


def test_who_gives_up_is_told_so(issuer: Issuer) -> None:
    answer = sign_on(issuer, error="access_denied")
    assert (answer.status_code, refusals()) == (403, ["sign-on: cancelled"])


@pytest.mark.parametrize(
    "claims", [{"preferred_username": "JANE"}, {"email": "J@work.example", "email_verified": True}]
)
def test_a_local_account_of_the_same_name_or_email_is_not_taken_over(issuer: Issuer, claims: dict[str, Any]) -> None:
    local = User.objects.create_user("jane", "j@work.example", is_staff=True, is_superuser=True)
    issuer.claims |= {"preferred_username": "other"} | claims
    browser = client()
    answer = sign_on(issuer, browser)
    assert (answer.status_code, refusals()) == (403, ["sign-on: name or e-mail taken"])
    assert "link it under" in answer.text
    assert list(User.objects.all()) == [local]
    assert not SocialAccount.objects.exists()
    assert browser.get("/admin/").status_code == 302


def test_an_email_that_is_not_verified_is_neither_kept_nor_compared(issuer: Issuer) -> None:
    User.objects.create_user("bob", "jane@work.example", is_staff=True)
    issuer.claims |= {"email": "jane@work.example", "email_verified": "false"}
    assert sign_on(issuer).status_code == 302
    assert User.objects.get(username="jane").email == ""


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "claims",
    [
        {"email": f"{'a' * 64}@{'.'.join(['b' * 60] * 4)}.example", "email_verified": True},
        {"email": "a\0@work.example", "email_verified": True},
        *({"given_name": name} for name in ("Ja\0ne", "\ud800")),
    ],
    ids=repr,
)
def test_who_has_an_email_or_a_name_that_no_account_can_have_comes_in_without(
    issuer: Issuer, claims: dict[str, Any]
) -> None:
    issuer.claims |= claims
    assert sign_on(issuer).status_code == 302
    jane = User.objects.get(username="jane")
    assert (jane.email, jane.first_name) == ("", "")


def test_an_account_is_named_as_the_sub_where_it_can_not_have_the_name(issuer: Issuer) -> None:
    issuer.claims |= {"preferred_username": "Jane Quibble", "sub": "auth0|1"}
    assert (sign_on(issuer).status_code, refusals()) == (403, ["sign-on: no name"])
    issuer.claims["sub"] = "jane-1"
    assert sign_on(issuer).status_code == 302
    assert User.objects.get().username == "jane-1"


@pytest.mark.both_databases
@pytest.mark.parametrize("sub", ["s" * 192, "s" * 255, "s\0"], ids=len)  # a `sub` has at most 255 characters
def test_a_sub_that_can_not_be_kept_is_refused(issuer: Issuer, sub: str) -> None:
    issuer.claims["sub"] = sub
    assert_refused(sign_on(issuer))


def test_its_owner_links_a_local_account_and_logs_in_by_the_sign_on_from_then_on(issuer: Issuer, clock: Clock) -> None:
    jane = Staff("jane", is_superuser=False).with_app().log_in()
    assert "Link it" in jane.browser.get(FACTORS).text
    assert sign_on(issuer, jane.browser, LINK).status_code == 302
    assert jane.is_in()
    assert (roles(jane.user), User.objects.count()) == (["Operations"], 1)
    assert "Link it" not in jane.browser.get(FACTORS).text
    assert give_password(client(), "jane").status_code == 200  # the form again
    assert sign_on(issuer).status_code == 302


def test_nobody_links_what_is_anothers(issuer: Issuer, clock: Clock) -> None:
    sign_on(issuer)
    bob = Staff("bob", is_superuser=False).with_app().log_in()
    answer = sign_on(issuer, bob.browser, LINK)
    assert (answer.status_code, refusals()) == (403, ["sign-on: linked"])
    bob.user.refresh_from_db()
    assert bob.user.has_usable_password()
    stranger = client()
    give_password(stranger, "bob")
    for browser in (stranger, client()):  # one without bob's factor, and one without anything
        assert browser.post(LINK)["Location"].startswith("/admin/login/")


def test_who_is_deactivated_meanwhile_links_nothing(issuer: Issuer, clock: Clock) -> None:
    bob = Staff("bob", is_superuser=False).with_app().log_in()
    led = bob.browser.post(LINK)
    User.objects.update(is_active=False)
    answer = bob.browser.get(issuer.authorize(led["Location"]))
    assert (answer.status_code, refusals()) == (403, ["sign-on: link"])
    bob.user.refresh_from_db()
    assert bob.user.has_usable_password()


@pytest.mark.parametrize("field", ["is_active", "is_staff"])
def test_a_deactivated_account_stays_out(issuer: Issuer, field: str) -> None:
    sign_on(issuer)
    User.objects.update(**{field: False})
    answer = sign_on(issuer)
    assert (answer.status_code, refusals()) == (403, ["sign-on: deactivated"])
    assert "deactivated" in answer.text


def test_another_issuers_sub_is_another_person(issuer: Issuer, settings: Settings) -> None:
    sign_on(issuer)
    with issuers.Issuer() as other:
        settings.OIDC_ISSUER = other.url
        assert sign_on(other).status_code == 403
        other.claims["preferred_username"] = "other"
        assert sign_on(other).status_code == 302
    assert User.objects.count() == 2


def test_the_button_is_shown_only_where_there_is_an_issuer(issuer: Issuer, settings: Settings) -> None:
    assert BUTTON in client().get(LOGIN).text
    french = client()
    french.defaults["HTTP_ACCEPT_LANGUAGE"] = "fr"
    assert "authentification de votre entreprise" in french.get(LOGIN).text
    issuer.claims["groups"] = []
    assert "Aucun de vos groupes" in sign_on(issuer, french).text
    settings.OIDC_ISSUER = ""
    assert BUTTON not in client().get(LOGIN).text
    assert "sign-on" not in client().get(LOGIN).text
    assert (client().post(START).status_code, client().get(f"{START}back/").status_code) == (404, 404)


def test_its_ways_are_counted_with_the_log_in_page(issuer: Issuer, clock: Clock) -> None:
    answers = [client().get(f"{START}back/").status_code for _ in range(61)]
    assert answers[-1] == 429
    assert client().get(LOGIN).status_code == 429


def test_nothing_that_the_issuer_sends_is_logged(issuer: Issuer, caplog: pytest.LogCaptureFixture) -> None:
    issuer.claims |= {"email": "jane@work.example", "email_verified": True, "name": "Jane Quibble"}
    sign_on(issuer)
    issuer.token = {"aud": "other"}
    sign_on(issuer)
    texts = " ".join(str(vars(record)) for record in caplog.records)
    assert "the ID token is not valid" in texts
    body = base64.urlsafe_b64encode(b"Quibble").decode()[:8]
    assert not [word for word in ("Quibble", "jane@", "opaque", issuers.SECRET, body) if word in texts]


def test_while_the_issuer_hangs_who_has_a_password_logs_in(
    issuer: Issuer, ada: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("config.login.limits.sign_ons.share", 1)
    meanwhile: list[int] = []

    def others(*_: Any, **__: Any) -> None:
        meanwhile.extend((client().post(START).status_code, ada.give_password().status_code))

    browser = client()
    during(monkeypatch, IssuerSession, "request", before=others)
    led = browser.post(START)
    during(monkeypatch, IssuerSession, "request", before=others)
    assert browser.get(issuer.authorize(led["Location"])).status_code == 302
    assert meanwhile == [503, 302] * 2
