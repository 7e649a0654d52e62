"""The commands for contracts, sender addresses, keys and reconciliation, as an operator runs them."""

import io
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from carriers.products import PRODUCTS
from carriers.shipment import ProductOverride
from labels.models import LabelState, ShippingLabel
from shops.contracts.encryption import UnreadableSecretError, decrypt
from shops.contracts.models import CarrierContract
from shops.models import Shop
from tests.labels.conftest import Sandbox, bought_label, contract, row
from tests.labels.orders import ACCOUNT, PASSWORD, PRODUCT, SENDER, Json, order, post
from tests.support.api import Caller
from tests.support.factories import ShopFactory
from tests.support.processes import run_command

CONFIGURE = "configure_carrier"
ALPHA = [CONFIGURE, "shop", "alpha", "--account-number", ACCOUNT["alpha"], "--password-stdin"]
BETA = [CONFIGURE, "shop", "beta", "--account-number", ACCOUNT["beta"]]
ALL = "--all-products"


@pytest.fixture
def shop(db: None) -> Shop:
    made: Shop = ShopFactory(id="shop")
    return made


@contextmanager
def stdin(text: str | bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    content = text if isinstance(text, bytes) else text.encode()
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
        yield


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command in this process; return its standard output and standard error."""

    def run(*arguments: str, secret: str | bytes = "") -> tuple[str, str]:
        out, err = StringIO(), StringIO()
        with stdin(secret, monkeypatch):
            call_command(*arguments, stdout=out, stderr=err)
        return out.getvalue(), err.getvalue()

    return run


def contracts() -> list[Json]:
    return list(CarrierContract.objects.order_by("id").values())


# --- configure_carrier ---


def test_a_contract_made_by_the_command_buys_a_label(buyer: Caller, sandbox: Sandbox) -> None:
    CarrierContract.objects.all().delete()
    for carrier_code, product_code in PRODUCT.items():
        code, out, err = run_command(
            CONFIGURE,
            *(buyer.shop.id, carrier_code, "--account-number", ACCOUNT[carrier_code], "--password-stdin"),
            *("--product", product_code),
            stdin=PASSWORD[carrier_code].encode() + b"\n",
        )
        assert (code, err) == (0, "")
        assert out == f"{CarrierContract.objects.get(carrier_code=carrier_code).id}\n"
        assert post(buyer, order(product_code)).status_code == 201
    assert [parcel.account for parcel in sandbox.made()] == [ACCOUNT["alpha"], ACCOUNT["beta"]]


def test_every_option_is_kept(call: Any, shop: Shop) -> None:
    out, err = call(
        *(*ALPHA, "--product", "alpha-13", "--product", "alpha-18=16:6", "--product", "relais=86"),
        *("--commercial-name", " Les Bougies ", "--customs-description", "Bougies"),
        *("--customs-value", "12.5", "--customs-hs-code", "340600"),
        secret=PASSWORD["alpha"],
    )
    made = CarrierContract.objects.get()
    assert (out, err) == (f"{made.id}\n", "")
    assert (made.shop, made.carrier_code, made.account_number) == (shop, "alpha", ACCOUNT["alpha"])
    assert sorted(made.products) == ["alpha-13", "alpha-18", "relais"]
    assert made.override("alpha-13") is None
    assert made.override("alpha-18") == ProductOverride("16", "6")
    assert made.override("relais") == ProductOverride("86", "")
    assert (made.commercial_name, made.customs_description, made.customs_hs_code) == (
        "Les Bougies",
        "Bougies",
        "340600",
    )
    assert made.customs_value_eur == Decimal("12.50")
    assert (made.credentials.password, made.credentials.api_key) == (PASSWORD["alpha"], "")


@pytest.mark.parametrize("option", ["--password-stdin", "--api-key-stdin"])
@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\nsecond line\n"])
def test_the_secret_is_the_first_line_of_standard_input(ending: str, option: str, call: Any, shop: Shop) -> None:
    call(*BETA, option, ALL, secret=f" s3cret!{ending}".strip(" "))
    credentials = CarrierContract.objects.get().credentials
    assert (credentials.password, credentials.api_key) == (
        ("s3cret!", "") if option == "--password-stdin" else ("", "s3cret!")
    )


@pytest.mark.parametrize("carrier_code", sorted(PRODUCT))
def test_all_products_are_those_of_the_carrier(carrier_code: str, call: Any, shop: Shop) -> None:
    call(*(ALPHA if carrier_code == "alpha" else [*BETA, "--password-stdin"]), ALL, secret="123456")
    own = {code for code, product in PRODUCTS.items() if product.carrier == carrier_code}
    assert CarrierContract.objects.get().products == dict.fromkeys(own)


def test_run_again_it_replaces_all_and_keeps_the_id(call: Any, shop: Shop) -> None:
    customs = ("--customs-description", "Bougies", "--customs-value", "1", "--customs-hs-code", "3406")
    first, _ = call(*BETA, "--api-key-stdin", ALL, "--commercial-name", "Name", *customs, secret="k-1")
    second, _ = call(*BETA, "--password-stdin", "--product", "beta", secret="another")
    assert first == second
    made = CarrierContract.objects.get()
    assert made.products == {"beta": None}
    assert (made.commercial_name, made.customs_description, made.customs_value_eur, made.customs_hs_code) == (
        *("", "", None),
        "",
    )
    assert (made.credentials.password, made.credentials.api_key) == ("another", "")


def test_a_shop_has_a_contract_with_each_carrier_and_each_shop_its_own(call: Any, shop: Shop) -> None:
    ShopFactory(id="another")
    ids = {
        call(*ALPHA, ALL, secret="255562")[0],
        call(*BETA, "--password-stdin", ALL, secret="x")[0],
        call(CONFIGURE, "another", *ALPHA[2:], ALL, secret="255562")[0],
    }
    assert len(ids) == 3


CUSTOMS = ["--customs-description", "Bougies", "--customs-value", "12.50", "--customs-hs-code", "340600"]


def customs(**changes: str) -> list[str]:
    values = {"description": "Bougies", "value": "12.50", "hs_code": "340600"} | changes
    return [word for name, value in values.items() for word in (f"--customs-{name.replace('_', '-')}", value)]


BAD: dict[str, tuple[list[str], str | bytes]] = {
    "no such shop": ([CONFIGURE, "absent", *ALPHA[2:], ALL], "255562"),
    "no shop": ([CONFIGURE, "", *ALPHA[2:], ALL], "255562"),
    "no such carrier": ([CONFIGURE, "shop", "gamma", *ALPHA[3:], ALL], "255562"),
    "carrier in capitals": ([CONFIGURE, "shop", "Alpha", *ALPHA[3:], ALL], "255562"),
    "account of 7 digits": ([*ALPHA[:4], "1986950", "--password-stdin", ALL], "255562"),
    "account with a letter": ([*ALPHA[:4], "1986950A", "--password-stdin", ALL], "255562"),
    "account in other digits": ([*ALPHA[:4], "\u0661" * 8, "--password-stdin", ALL], "255562"),
    "empty account": ([*BETA[:4], "", "--password-stdin", ALL], "255562"),
    "long account": ([*BETA[:4], "x" * 65, "--password-stdin", ALL], "255562"),
    "password of 5 digits": ([*ALPHA, ALL], "25556"),
    "password with a letter": ([*ALPHA, ALL], "25556x"),
    "password of spaces": ([*BETA, "--password-stdin", ALL], "    "),
    "no password": ([*BETA, "--password-stdin", ALL], ""),
    "empty line": ([*BETA, "--password-stdin", ALL], "\nhunter2\n"),
    "long password": ([*BETA, "--password-stdin", ALL], "hunter2" * 100),
    "password with a control character": ([*BETA, "--password-stdin", ALL], "hunter2\x1b"),
    "password with a NUL": ([*BETA, "--password-stdin", ALL], "hunter2\0"),
    "password that is not ASCII": ([*BETA, "--password-stdin", ALL], "hunter2\u00e9"),
    "password that is no UTF-8": ([*BETA, "--password-stdin", ALL], b"hunter2\xff\n"),
    "API key for alpha": ([*ALPHA[:-1], "--api-key-stdin", ALL], "255562"),
    "API key with a space": ([*BETA, "--api-key-stdin", ALL], "hunter2 hunter2"),
    "both secrets": ([*ALPHA, "--api-key-stdin", ALL], "255562"),
    "no secret": ([*BETA, ALL], "hunter2"),
    "no products": (ALPHA, "255562"),
    "both kinds of products": ([*ALPHA, ALL, "--product", "alpha-13"], "255562"),
    "no such product": ([*ALPHA, "--product", "alpha-14"], "255562"),
    "empty product": ([*ALPHA, "--product", ""], "255562"),
    "product of the other carrier": ([*ALPHA, "--product", "beta"], "255562"),
    "one good and one bad product": ([*ALPHA, "--product", "alpha-13", "--product", "x"], "255562"),
    "product with an empty code": ([*ALPHA, "--product", "alpha-13="], "255562"),
    "product with a long code": ([*ALPHA, "--product", "alpha-13=123456789"], "255562"),
    "product with a code that alpha can't have": ([*ALPHA, "--product", "alpha-13=XYZ"], "255562"),
    "product with an empty service": ([*ALPHA, "--product", "alpha-13=01:"], "255562"),
    "product with a bad service": ([*ALPHA, "--product", "alpha-13=01:x"], "255562"),
    "product with a newline": ([*ALPHA, "--product", "alpha-13=01\n"], "255562"),
    "service for beta": ([*BETA, "--password-stdin", "--product", "beta=DOM:6"], "x"),
    "long commercial name": ([*ALPHA, ALL, "--commercial-name", "x" * 36], "255562"),
    "commercial name beta can't print": ([*BETA, "--password-stdin", ALL, "--commercial-name", "\u6771\u4eac"], "x"),
    "customs without a value": ([*ALPHA, ALL, *CUSTOMS[:2], *CUSTOMS[4:]], "255562"),
    "customs without a description": ([*ALPHA, ALL, *CUSTOMS[2:]], "255562"),
    "customs without a code": ([*ALPHA, ALL, *CUSTOMS[:4]], "255562"),
    **{
        f"customs value {value!r}": ([*ALPHA, ALL, *customs(value=value)], "255562")
        for value in ("0", "0.00", "-1", "0.001", "1,5", "x", "NaN", "sNaN", "Infinity", "1e9", "100000000", " ")
    },
    **{
        f"customs code {code!r}": ([*ALPHA, ALL, *customs(hs_code=code)], "255562")
        for code in ("340", "12345678901", "3406.00", "34O600", "\u0663\u0664\u0660\u0666", " ")
    },
    "long customs description": ([*ALPHA, ALL, *customs(description="x" * 65)], "255562"),
    "customs description longer than alpha prints": ([*ALPHA, ALL, *customs(description="x" * 46)], "255562"),
    "blank customs description": ([*ALPHA, ALL, *customs(description="  ")], "255562"),
    "customs description that can't be printed": ([*ALPHA, ALL, *customs(description="\u8721\u70db")], "255562"),
}


@pytest.mark.parametrize(("arguments", "secret"), BAD.values(), ids=BAD)
def test_bad_input_for_a_contract_changes_nothing(
    arguments: list[str], secret: str | bytes, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract(shop, "alpha")
    contract(shop, "beta")
    before = contracts()
    out, err = StringIO(), StringIO()
    with stdin(secret, monkeypatch), pytest.raises(CommandError) as caught:
        call_command(*arguments, stdout=out, stderr=err)
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    assert (out.getvalue(), err.getvalue()) == ("", "")
    assert "hunter2" not in said
    assert contracts() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*BETA, "--product", "beta=DOM:6"], "--product 'beta=DOM:6': beta has no services, so leave out :6"),
        ([*BETA, "--product", "beta=D-M"], "--product 'beta=D-M': 'D-M' is no product code of beta"),
        (
            [*ALPHA[:-1], "--product", "alpha-13=01:x"],
            "--product 'alpha-13=01:x': needs CODE[=CARRIERCODE[:SERVICE]], SERVICE of 1 to 3 digits",
        ),
        ([*BETA, "--product", "alpha-13"], "--product 'alpha-13': 'alpha-13' is none of beta, beta_domicile_"),
    ],
)
def test_what_is_wrong_with_a_product_is_said(arguments: list[str], said: str, call: Any, shop: Shop) -> None:
    with pytest.raises(CommandError) as caught:
        call(*arguments, "--password-stdin", secret="x")
    assert str(caught.value).startswith(said)


def test_bad_input_is_one_line_on_standard_error_and_an_exit_code(transactional_db: None) -> None:
    ShopFactory(id="shop")
    for arguments, secret in (
        ([*ALPHA, ALL], b"hunter2"),
        ([*BETA, "--password-stdin", ALL], b"hunter2\xff"),
        (ALPHA, b""),
    ):
        code, out, err = run_command(*arguments, stdin=secret)
        assert (code != 0, out, len(err.splitlines())) == (True, "", 1), err
        assert "hunter2" not in err
    assert contracts() == []


# --- set_sender_address ---

SET_ADDRESS = "set_sender_address"


def test_the_address_set_by_the_command_is_what_labels_are_sent_from(buyer: Caller, tmp_path: Path) -> None:
    file = tmp_path / "address.json"
    file.write_bytes(orjson.dumps(SENDER | {"phone": "04 72 00 11 22", "unknown": 1}))
    code, out, err = run_command(SET_ADDRESS, buyer.shop.id, file)
    assert (code, out, len(err.splitlines())) == (0, "", 1)
    body = order()
    del body["originAddress"]
    assert post(buyer, body).status_code == 201
    assert row().sender == SENDER
    marked = BOM_UTF8 + orjson.dumps(SENDER | {"city": "Nantes"})
    code, out, err = run_command(SET_ADDRESS, buyer.shop.id, "-", stdin=marked)
    assert (code, out) == (0, "")
    buyer.shop.refresh_from_db()
    assert buyer.shop.sender_address == SENDER | {"city": "Nantes"}


BAD_ADDRESSES: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"{",
    "no UTF-8": b'{"firstName": "\xff"}',
    "an array": b"[]",
    "null": b"null",
    "text": b'"text"',
    "an empty object": b"{}",
    "a lone surrogate": b'{"firstName": "\\ud800"}',
    "deep": b"[" * 5000,
    **{
        f"{name} {value!r}": orjson.dumps(SENDER | {name: value})
        for name in SENDER
        for value in (None, 5, "\0", "x" * 1001)
    },
    "a country in small letters": orjson.dumps(SENDER | {"countryCode": "fr"}),
    "no phone number": orjson.dumps(SENDER | {"phone": "x"}),
}


@pytest.mark.parametrize("content", BAD_ADDRESSES.values(), ids=BAD_ADDRESSES)
def test_a_bad_address_changes_nothing(content: bytes, call: Any, shop: Shop, tmp_path: Path) -> None:
    Shop.objects.update(sender_address=SENDER)
    file = tmp_path / "address.json"
    file.write_bytes(content)
    with pytest.raises(CommandError) as caught:
        call(SET_ADDRESS, "shop", str(file))
    assert str(caught.value).startswith("FILE: ")
    assert len(str(caught.value).splitlines()) == 1
    shop.refresh_from_db()
    assert shop.sender_address == SENDER


def test_a_bad_address_is_told_whole(call: Any, shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "address.json"
    file.write_bytes(orjson.dumps(SENDER | {"city": "", "phone": "x"}))
    with pytest.raises(CommandError) as caught:
        call(SET_ADDRESS, "shop", str(file))
    assert str(caught.value) == "FILE: city: must not be empty. phone: must be a phone number."


def test_an_address_that_no_carrier_can_print_is_refused(call: Any, shop: Shop) -> None:
    with pytest.raises(CommandError) as caught:
        call(SET_ADDRESS, "shop", "-", secret=orjson.dumps(SENDER | {"city": "Αθήνα", "lastName": "Ωμέγα"}))
    latin = "only Latin letters can be printed"
    assert str(caught.value) == f"FILE: lastName: {latin}. city: {latin}"
    shop.refresh_from_db()
    assert shop.sender_address is None


def test_an_address_that_one_carrier_can_not_print_is_set_and_said_so(call: Any, shop: Shop) -> None:
    address = SENDER | {"lastName": "Long" * 9}
    _, err = call(SET_ADDRESS, "shop", "-", secret=orjson.dumps(address))
    shop.refresh_from_db()
    assert shop.sender_address == address
    first, second = err.splitlines()
    assert "is set" in first
    assert second.startswith("Labels of beta can't be sent from it: lastName: ")


@pytest.mark.parametrize("arguments", [("absent", "-"), ("shop", "/nowhere/address.json"), ("shop", "/")])
def test_no_shop_and_no_file_are_told_in_one_line(arguments: tuple[str, ...], call: Any, shop: Shop) -> None:
    with pytest.raises(CommandError) as caught:
        call(SET_ADDRESS, *arguments, secret=orjson.dumps(SENDER))
    assert len(str(caught.value).splitlines()) == 1
    shop.refresh_from_db()
    assert shop.sender_address is None


# --- encrypt_credentials ---

ENCRYPT = "encrypt_credentials"


def new_key() -> str:
    return Fernet.generate_key().decode()


def test_keys_rotate_without_a_secret_lost(call: Any, shop: Shop, settings: Settings) -> None:
    old, new = new_key(), new_key()
    settings.CREDENTIALS_KEYS = [old]
    for carrier_code in PASSWORD:
        contract(shop, carrier_code)
    settings.CREDENTIALS_KEYS = [new, old]
    assert {c.carrier_code: c.credentials.password for c in CarrierContract.objects.all()} == PASSWORD
    assert call(ENCRYPT) == ("2\n", "")
    settings.CREDENTIALS_KEYS = [new]
    assert {c.carrier_code: c.credentials.password for c in CarrierContract.objects.all()} == PASSWORD
    settings.CREDENTIALS_KEYS = [old]
    for made in CarrierContract.objects.all():
        with pytest.raises(UnreadableSecretError, match=f"none of CREDENTIALS_KEYS opens the credentials of {made.id}"):
            _ = made.credentials


def test_a_new_key_alone_encrypts_nothing_and_says_so(call: Any, shop: Shop, settings: Settings) -> None:
    settings.CREDENTIALS_KEYS = [new_key()]
    contract(shop, "alpha")
    settings.CREDENTIALS_KEYS = [new_key()]
    contract(shop, "beta")
    before = contracts()
    with pytest.raises(CommandError) as caught:
        call(ENCRYPT)
    assert len(str(caught.value).splitlines()) == 1
    assert str(caught.value).endswith("nothing was changed")
    assert contracts() == before


def test_encrypting_again_leaves_what_a_contract_says_as_it_is(call: Any, shop: Shop) -> None:
    contract(shop, "alpha")
    (before,) = contracts()
    assert call(ENCRYPT) == ("1\n", "")
    (after,) = contracts()
    assert after.pop("encrypted_credentials") != before.pop("encrypted_credentials")
    assert after == before


def test_credentials_are_not_in_the_database_in_the_clear_and_open_in_their_own_row_only(shop: Shop) -> None:
    alpha, beta = contract(shop, "alpha"), contract(shop, "beta")
    for made in contracts():
        assert not any(secret in str(made) for secret in PASSWORD.values())
    with pytest.raises(UnreadableSecretError, match=f"the credentials in {alpha.id} are another row's"):
        decrypt(beta.encrypted_credentials, row_id=alpha.id)
    flipped = "B" if beta.encrypted_credentials[40] == "A" else "A"
    with pytest.raises(UnreadableSecretError):
        decrypt(beta.encrypted_credentials[:40] + flipped + beta.encrypted_credentials[41:], row_id=beta.id)


# --- reconcile_labels ---


def test_reconciling_prints_how_many_labels_it_took_up(buyer: Caller, call: Any, folder: Path) -> None:
    assert call("reconcile_labels") == ("0\n", "")
    folder.write_text("no folder")
    post(buyer, order())
    assert call("reconcile_labels") == ("1\n", "1 received\n")
    folder.unlink()
    assert call("reconcile_labels") == ("1\n", "1 label_generated\n")
    assert row().state == LabelState.GENERATED
    assert call("reconcile_labels") == ("0\n", "")


def test_reconciling_counts_what_it_holds_for_a_person_as_well(own: Caller, call: Any) -> None:
    held = bought_label(own.shop, days_ago=1, state="unknown", carrier_code="beta")
    for _ in range(2):
        assert call("reconcile_labels") == ("1\n", "1 unknown\n")
        ShippingLabel.objects.filter(id=held.id).update(leased_until=held.leased_until)  # it is asked about again


def test_a_folder_that_is_gone_keeps_no_command_from_its_work(transactional_db: None) -> None:
    code, out, err = run_command("reconcile_labels", LABELS_DIR="/etc/passwd")
    assert (code, out, err) == (0, "0\n", "")
