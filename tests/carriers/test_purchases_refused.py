"""What the sandbox refuses, by a rule or by an error code: the client's class for it, and nothing is bought."""

import pytest

from carriers.errors import CarrierError, CarrierUnavailable, CredentialsRejected, ProductNotInContract, RequestRejected
from carriers.products import PRODUCTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Credentials
from tests.carriers.sandbox.orders import ledger
from tests.carriers.support.sandbox import creates, faulty, order, received
from tests.carriers.support.shipments import CREDENTIALS
from tests.carriers.test_purchases import Clients
from tests.carriers.test_refusals import ALPHA_ROWS, BETA_ROWS


@pytest.mark.parametrize("code", ["alpha-13", "alpha-18", "alpha_jour_j", "shop2shop", "alpha_2shopdirect"])
def test_alpha_says_itself_where_a_product_does_not_go(sandbox: SandboxServer, clients: Clients, code: str) -> None:
    recipient = {"country_code": "US"}
    with pytest.raises(RequestRejected) as caught:
        clients["alpha"].create_label(order(code, recipient=recipient), CREDENTIALS["alpha"])
    assert caught.value.carrier_code == "35"
    assert ledger(sandbox) == []


@pytest.mark.parametrize("code", ["alpha_express_world", "beta_domicile_signature_monde"])
def test_goods_that_nobody_described_are_refused_by_the_carrier(
    sandbox: SandboxServer, clients: Clients, code: str
) -> None:
    carrier = PRODUCTS[code].carrier
    with pytest.raises(RequestRejected) as caught:
        clients[carrier].create_label(order(code, customs=()), CREDENTIALS[carrier])
    assert caught.value.carrier_code == {"alpha": "31", "beta": "30500"}[carrier]
    assert ledger(sandbox) == []


@pytest.mark.parametrize(
    ("carrier", "code", "error"),
    [
        *(("alpha", str(code), error) for code, text, error in ALPHA_ROWS if text != "undocumented" and code != 33),
        ("alpha", "33", RequestRejected),
        ("alpha", "contract", ProductNotInContract),
        ("alpha", "777", CarrierUnavailable),
        *(("beta", code, error) for code, error in BETA_ROWS if code.isdigit()),
        ("beta", "ROUTING", CarrierUnavailable),
        ("beta", "contract", ProductNotInContract),
    ],
)
def test_every_code_has_its_class_and_nothing_is_bought(
    sandbox: SandboxServer, clients: Clients, carrier: str, code: str, error: type[CarrierError]
) -> None:
    with pytest.raises(CarrierError) as caught:
        clients[carrier].create_label(faulty(carrier, code), CREDENTIALS[carrier])
    assert type(caught.value) is error
    assert caught.value.is_nothing_made
    assert caught.value.carrier_text
    assert ledger(sandbox) == []
    assert creates(sandbox, carrier) == 1


@pytest.mark.parametrize(
    ("carrier", "credentials", "error"),
    [
        ("alpha", Credentials("19869502", "000000"), CredentialsRejected),
        ("alpha", Credentials("19000030", "255562"), CredentialsRejected),
        ("alpha", Credentials("19000033", "255562"), ProductNotInContract),
        ("beta", Credentials("30000", "secret"), CredentialsRejected),
        ("beta", Credentials("30007", "secret"), CredentialsRejected),
        ("beta", Credentials("30008", "secret"), CredentialsRejected),
        ("beta", Credentials("30009", "secret"), ProductNotInContract),
        ("beta", Credentials("30700", "secret"), ProductNotInContract),
        ("beta", Credentials(api_key="key-30000"), CredentialsRejected),
        ("beta", Credentials(api_key="key-30700"), ProductNotInContract),
    ],
)
def test_a_contract_that_is_refused_buys_nothing(
    sandbox: SandboxServer, clients: Clients, carrier: str, credentials: Credentials, error: type[CarrierError]
) -> None:
    with pytest.raises(error):
        clients[carrier].create_label(order({"alpha": "relais", "beta": "beta"}[carrier]), credentials)
    assert ledger(sandbox) == []


def test_what_is_refused_before_it_is_sent_reaches_no_carrier(sandbox: SandboxServer, clients: Clients) -> None:
    for code in PRODUCTS:
        carrier = PRODUCTS[code].carrier
        with pytest.raises(CarrierError) as caught:
            clients[carrier].create_label(order(code, recipient={"address1": "北京市"}), CREDENTIALS[carrier])
        assert caught.value.field == "destinationAddress.address1"
    assert received(sandbox) == {}
