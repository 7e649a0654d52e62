"""Credentials are encrypted in the database, each for its own row, and keys rotate by ``encrypt_credentials``."""

import re

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError
from pytest_django.fixtures import Settings

from config.login import forms
from shops.contracts import accounts
from shops.contracts.accounts import CarrierAccount
from shops.contracts.encryption import UnreadableSecretError, decrypt
from shops.contracts.models import CarrierContract
from shops.db import clock
from shops.models import Shop
from shops.webhooks import endpoints
from tests.config.login.staff import Staff
from tests.labels.factories import ContractFactory
from tests.labels.gates import during
from tests.labels.orders import PASSWORD
from tests.shops.commands import call, contracts, refused
from tests.support.api import client

ENCRYPT = "encrypt_credentials"


def new_key() -> str:
    return Fernet.generate_key().decode()


def test_keys_rotate_without_a_secret_lost(shop: Shop, settings: Settings) -> None:
    old, new = new_key(), new_key()
    settings.CREDENTIALS_KEYS = [old]
    for carrier_code in PASSWORD:
        ContractFactory(shop=shop, carrier_code=carrier_code)
    settings.CREDENTIALS_KEYS = [new, old]
    assert {c.carrier_code: c.credentials.password for c in CarrierContract.objects.all()} == PASSWORD
    assert call(ENCRYPT) == ("2\n", "")
    settings.CREDENTIALS_KEYS = [new]
    assert {c.carrier_code: c.credentials.password for c in CarrierContract.objects.all()} == PASSWORD
    settings.CREDENTIALS_KEYS = [old]
    for made in CarrierContract.objects.all():
        with pytest.raises(UnreadableSecretError, match=f"none of CREDENTIALS_KEYS opens the credentials of {made.id}"):
            _ = made.credentials


def test_what_is_over_and_nobody_can_give_again_stops_no_rotation(shop: Shop, settings: Settings) -> None:
    settings.CREDENTIALS_KEYS = [new_key()]
    contract = ContractFactory(shop=shop, carrier_code="alpha")
    accounts.write(contract, "19869511", {"password": "123456"}, replaced_at=clock.now())
    endpoint, _ = endpoints.create(shop=shop, url="https://shop.example/hook")
    settings.CREDENTIALS_KEYS = [lasting := new_key()]  # the first is lost: what is in use is set anew
    contract.set_secret(password=PASSWORD["alpha"])
    contract.save()
    settings.CREDENTIALS_KEYS = [new := new_key(), lasting]
    with pytest.raises(CommandError, match=f"{endpoint.id}; nothing was changed"):
        call(ENCRYPT)
    endpoints.revoke(endpoint)
    printed, left = call(ENCRYPT)
    assert printed == "1\n"
    for row, line in zip((CarrierAccount.objects.get(), endpoint), left.splitlines(), strict=True):
        assert line == f"none of CREDENTIALS_KEYS opens the credentials of {row.pk}; it is over, and left"
    settings.CREDENTIALS_KEYS = [new]
    assert CarrierContract.objects.get().is_readable


def test_second_factors_rotate_too(db: None, settings: Settings) -> None:
    settings.CREDENTIALS_KEYS = [old := new_key()]
    ada = Staff("ada").with_app()
    codes = ada.recovery_codes()
    settings.CREDENTIALS_KEYS = [new := new_key(), old]
    assert call(ENCRYPT) == ("2\n", "")
    settings.CREDENTIALS_KEYS = [new]
    assert ada.recovery_codes() == codes
    ada.log_in()
    settings.CREDENTIALS_KEYS = [new_key()]
    assert re.search(r"opens the second factor .*; nothing was changed", refused(ENCRYPT))


def test_a_second_factor_that_is_used_meanwhile_rotates_too(
    db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CREDENTIALS_KEYS = [old := new_key()]
    ada = Staff("ada").with_app()
    settings.CREDENTIALS_KEYS = [new := new_key(), old]
    during(monkeypatch, forms, "period_of", after=lambda _: call(ENCRYPT))
    ada.log_in()
    settings.CREDENTIALS_KEYS = [new]
    ada.browser = client()
    ada.give_password()
    assert ada.give_code(ada.code(periods=1)).status_code == 302


def test_a_new_key_alone_encrypts_nothing_and_says_so(shop: Shop, settings: Settings) -> None:
    settings.CREDENTIALS_KEYS = [new_key()]
    ContractFactory(shop=shop, carrier_code="alpha")
    settings.CREDENTIALS_KEYS = [new_key()]
    ContractFactory(shop=shop, carrier_code="beta")
    before = contracts()
    assert refused(ENCRYPT).endswith("nothing was changed")
    assert contracts() == before


def test_encrypting_again_leaves_what_a_contract_says_as_it_is(shop: Shop) -> None:
    ContractFactory(shop=shop, carrier_code="alpha")
    (before,) = contracts()
    assert call(ENCRYPT) == ("1\n", "")
    (after,) = contracts()
    assert after.pop("encrypted_credentials") != before.pop("encrypted_credentials")
    assert after == before


def test_credentials_are_not_in_the_database_in_the_clear_and_open_in_their_own_row_only(shop: Shop) -> None:
    alpha, beta = ContractFactory(shop=shop, carrier_code="alpha"), ContractFactory(shop=shop, carrier_code="beta")
    for made in contracts():
        assert not any(secret in str(made) for secret in PASSWORD.values())
    with pytest.raises(UnreadableSecretError, match=f"the credentials in {alpha.id} are another row's"):
        decrypt(beta.encrypted_credentials, row_id=alpha.id)
    flipped = "B" if beta.encrypted_credentials[40] == "A" else "A"
    with pytest.raises(UnreadableSecretError):
        decrypt(beta.encrypted_credentials[:40] + flipped + beta.encrypted_credentials[41:], row_id=beta.id)
