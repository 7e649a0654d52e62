"""``configure_carrier``: a contract with all its options, replaced as a whole, or one line on standard error."""

from decimal import Decimal

import pytest

from carriers.products import PRODUCTS
from carriers.shipment import Credentials, Customs, CustomsItem, ProductOverride
from shops.contracts.accounts import credentials_for, number_for
from shops.contracts.models import CarrierContract
from shops.models import Shop
from tests.labels.factories import ContractFactory
from tests.labels.orders import ACCOUNT, PASSWORD, PRODUCT
from tests.shops.commands import call, contracts, refused
from tests.support.cases import in_one_test
from tests.support.factories import ShopFactory

pytestmark = pytest.mark.any_database

CONFIGURE = "configure_carrier"
ALPHA = [CONFIGURE, "lumiere", "alpha", "--account-number", ACCOUNT["alpha"], "--password-stdin"]
BETA = [CONFIGURE, "lumiere", "beta", "--account-number", ACCOUNT["beta"]]
ALL = "--all-products"


def test_every_option_is_kept(shop: Shop) -> None:
    out, err = call(
        *(*ALPHA, "--product", "alpha-13", "--product", "alpha-18=16:6", "--product", "relais=86"),
        *("--commercial-name", " Les Bougies ", "--customs-description", "Bougies"),
        *("--customs-value", "12.5", "--customs-hs-code", "34060000", "--customs-shipping-cost", "7.9"),
        stdin=PASSWORD["alpha"],
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
        "34060000",
    )
    assert (made.customs_value_eur, made.customs_shipping_cost_eur) == (Decimal("12.50"), Decimal("7.90"))
    item = CustomsItem("Bougies", 1, Decimal("12.50"), hs_code="34060000")
    assert made.customs == Customs((item,), is_for_each_parcel=True, shipping_cost_eur=Decimal("7.90"))
    assert (made.credentials.password, made.credentials.api_key) == (PASSWORD["alpha"], "")


def test_accounts_paper_and_as_are_kept(shop: Shop) -> None:
    call(
        *(*BETA, "--api-key-stdin", ALL, "--parent-account", "900001", "--pickup-account-number", "804736"),
        *("--label-format", "A4"),
        stdin="k-1\n",
    )
    made = CarrierContract.objects.get()
    assert made.credentials == Credentials("804735", api_key="k-1", parent_account_number="900001")
    pickup = credentials_for(made, number_for(made, "beta_point_retrait_france"))
    assert pickup == Credentials("804736", api_key="k-1", parent_account_number="900001")
    assert (number_for(made, "beta"), made.label_format, made.has_api_key) == ("804735", "A4", True)
    call(*ALPHA, "--product", "shop2shop=5E:6:A15", stdin="255562")
    alpha = CarrierContract.objects.get(carrier_code="alpha")
    assert alpha.override("shop2shop") == ProductOverride("5E", "6", "A15")
    assert (alpha.label_format, alpha.has_api_key) == ("", False)


def test_the_second_line_is_the_pickup_accounts_secret(shop: Shop) -> None:
    call(*ALPHA, ALL, "--pickup-account-number", "19869503", stdin="255562\n123456\n")
    made = CarrierContract.objects.get()
    assert made.credentials.password == "255562"
    assert credentials_for(made, "19869503") == Credentials("19869503", "123456")
    call(*ALPHA, ALL, "--pickup-account-number", "19869503", stdin="255562")
    assert credentials_for(made, "19869503") == Credentials("19869503", "255562")


@pytest.mark.parametrize("option", ["--password-stdin", "--api-key-stdin"])
@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\nsecond line\n"])
def test_the_secret_is_the_first_line_of_standard_input(ending: str, option: str, shop: Shop) -> None:
    call(*BETA, option, ALL, stdin=f" s3cret!{ending}".strip(" "))
    credentials = CarrierContract.objects.get().credentials
    assert (credentials.password, credentials.api_key) == (
        ("s3cret!", "") if option == "--password-stdin" else ("", "s3cret!")
    )


@pytest.mark.parametrize("carrier_code", sorted(PRODUCT))
def test_all_products_are_those_of_the_carrier(carrier_code: str, shop: Shop) -> None:
    call(*(ALPHA if carrier_code == "alpha" else [*BETA, "--password-stdin"]), ALL, stdin="123456")
    own = {code for code, product in PRODUCTS.items() if product.carrier == carrier_code}
    assert CarrierContract.objects.get().products == dict.fromkeys(own)


def test_run_again_it_replaces_all_and_keeps_the_id(shop: Shop) -> None:
    customs = ("--customs-description", "Bougies", "--customs-value", "1", "--customs-hs-code", "340600")
    first, _ = call(*BETA, "--api-key-stdin", ALL, "--commercial-name", "Name", *customs, stdin="k-1")
    second, _ = call(*BETA, "--password-stdin", "--product", "beta", stdin="another")
    assert first == second
    made = CarrierContract.objects.get()
    assert made.products == {"beta": None}
    assert (made.commercial_name, made.customs_description, made.customs_value_eur, made.customs_hs_code) == (
        *("", "", None),
        "",
    )
    assert (made.customs_shipping_cost_eur, made.customs) == (None, None)
    assert (made.credentials.password, made.credentials.api_key) == ("another", "")


def test_a_shop_has_a_contract_with_each_carrier_and_each_shop_its_own(shop: Shop) -> None:
    ShopFactory(id="another")
    ids = {
        call(*ALPHA, ALL, stdin="255562")[0],
        call(*BETA, "--password-stdin", ALL, stdin="x")[0],
        call(CONFIGURE, "another", *ALPHA[2:], ALL, stdin="255562")[0],
    }
    assert len(ids) == 3


def test_without_a_postage_the_least_that_beta_takes_is_declared(shop: Shop) -> None:
    call(*ALPHA, ALL, *CUSTOMS, stdin="255562")
    customs = CarrierContract.objects.get().customs
    assert customs is not None
    assert customs.shipping_cost_eur == Decimal("0.01")


CUSTOMS = ["--customs-description", "Bougies", "--customs-value", "12.50", "--customs-hs-code", "340600"]


def customs(**changes: str) -> list[str]:
    values = {"description": "Bougies", "value": "12.50", "hs_code": "340600"} | changes
    return [word for name, value in values.items() for word in (f"--customs-{name.replace('_', '-')}", value)]


BAD: dict[str, tuple[list[str], str | bytes]] = {
    "no such shop": ([CONFIGURE, "absent", *ALPHA[2:], ALL], "255562"),
    "no shop": ([CONFIGURE, "", *ALPHA[2:], ALL], "255562"),
    "no such carrier": ([CONFIGURE, "lumiere", "gamma", *ALPHA[3:], ALL], "255562"),
    "carrier in capitals": ([CONFIGURE, "lumiere", "Alpha", *ALPHA[3:], ALL], "255562"),
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
    "pickup account of 7 digits": ([*ALPHA, ALL, "--pickup-account-number", "1986950"], "255562"),
    "pickup account that is the same": ([*ALPHA, ALL, "--pickup-account-number", ACCOUNT["alpha"]], "255562"),
    "pickup password of 5 digits": ([*ALPHA, ALL, "--pickup-account-number", "19869503"], "255562\n25556"),
    "parent account for alpha": ([*ALPHA, ALL, "--parent-account", "19869503"], "255562"),
    "goods that are printed longer": ([*ALPHA, ALL, *customs(description="œ" * 23)], "255562"),
    "goods of symbols alone": ([*ALPHA, ALL, *customs(description="***")], "255562"),
    "goods that beta prints longer": ([*BETA, "--password-stdin", ALL, *customs(description="œ" * 33)], "hunter2"),
    "another paper": ([*ALPHA, ALL, "--label-format", "A5"], "255562"),
    "as without a service": ([*ALPHA, "--product", "shop2shop=5E::A15"], "255562"),
    "as of beta": ([*BETA, "--password-stdin", "--product", "beta=DOM:6:A15"], "x"),
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
        for code in "3406 34060 3406000 340600000 340 12345678901 3406.00 34O600".split()
    },
    **{
        f"customs code {code!r}": ([*ALPHA, ALL, *customs(hs_code=code)], "255562")
        for code in ("\u0663\u0664\u0660\u0666\u0660\u0660", " ")
    },
    **{
        f"customs postage {value!r}": ([*ALPHA, ALL, *customs(shipping_cost=value)], "255562")
        for value in ("0", "-1", "0.001", "7,9", "x", "NaN", "1e9")
    },
    "customs postage alone": ([*ALPHA, ALL, "--customs-shipping-cost", "7.90"], "255562"),
    **{
        f"no customs {name}": ([*ALPHA, ALL, *customs(**{name: ""}, shipping_cost="7.90")], "255562")
        for name in ("description", "value", "hs_code")
    },
    "long customs description": ([*ALPHA, ALL, *customs(description="x" * 65)], "255562"),
    "customs description longer than alpha prints": ([*ALPHA, ALL, *customs(description="x" * 46)], "255562"),
    "blank customs description": ([*ALPHA, ALL, *customs(description="  ")], "255562"),
    "customs description that can't be printed": ([*ALPHA, ALL, *customs(description="\u8721\u70db")], "255562"),
}


@pytest.fixture
def both(shop: Shop) -> None:
    ContractFactory(shop=shop, carrier_code="alpha")
    ContractFactory(shop=shop, carrier_code="beta")


@in_one_test("case", BAD)
def test_bad_input_for_a_contract_changes_nothing(case: str, both: None) -> None:
    arguments, secret = BAD[case]
    before = contracts()
    assert "hunter2" not in refused(*arguments, stdin=secret)
    assert contracts() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*BETA, "--product", "beta=DOM:6"], "--product 'beta=DOM:6': beta has no services, so leave out :6"),
        ([*BETA, "--product", "beta=D-M"], "--product 'beta=D-M': 'D-M' is no product code of beta"),
        (
            [*ALPHA[:-1], "--product", "alpha-13=01:x"],
            "--product 'alpha-13=01:x': needs CODE[=CARRIERCODE[:SERVICE[:AS]]], SERVICE of 1 to 3 digits",
        ),
        ([*BETA, "--product", "alpha-13"], "--product 'alpha-13': 'alpha-13' is none of beta, beta_domicile_"),
    ],
)
def test_what_is_wrong_with_a_product_is_said(arguments: list[str], said: str, shop: Shop) -> None:
    assert refused(*arguments, "--password-stdin", stdin="x").startswith(said)
