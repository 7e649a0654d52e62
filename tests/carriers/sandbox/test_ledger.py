"""The ledger: filters, concurrency, and the file that keeps it over a restart."""

from concurrent.futures import ThreadPoolExecutor

import requests

from carriers.sandbox.faults import NO_FAULT
from carriers.sandbox.ledger import Ledger
from carriers.sandbox.server import SandboxServer
from carriers.sandbox.state import State, alpha_number
from tests.carriers.sandbox.alpha.orders import PASSWORD, REFERENCE, alpha_buy
from tests.carriers.sandbox.beta.orders import beta_buy
from tests.carriers.sandbox.control import TIMEOUT_S, get, ledger, post


def count(sandbox: SandboxServer, **filters: str) -> int:
    answer = get(f"{sandbox.url}/ledger/count", **filters)
    assert list(answer) == ["count"]
    return int(answer["count"])


def test_purchases_are_filtered_by_carrier_and_reference(sandbox: SandboxServer) -> None:
    alpha_buy(sandbox, count=2)
    beta_buy(sandbox)
    beta_buy(sandbox, {"letter.service.orderNumber": "OTHER"})

    assert count(sandbox) == 4
    assert count(sandbox, carrier="alpha") == 2
    assert count(sandbox, reference=REFERENCE) == 3
    assert count(sandbox, carrier="beta", reference="OTHER") == 1
    assert count(sandbox, reference="NOBODY") == 0
    assert [row["reference"] for row in ledger(sandbox, carrier="beta")] == [REFERENCE, "OTHER"]


def test_parallel_purchases_are_all_entered_each_with_its_own_number(sandbox: SandboxServer) -> None:
    with ThreadPoolExecutor(50) as pool:
        alpha = list(pool.map(lambda _: alpha_buy(sandbox).texts("skybillNumber")[0], range(50)))
        beta = list(pool.map(lambda _: beta_buy(sandbox).number, range(50)))

    assert len(set(alpha)) == len(set(beta)) == 50
    assert sorted(row["tracking_number"] for row in ledger(sandbox)) == sorted(alpha + beta)


def test_no_address_is_in_the_ledgers_answer(sandbox: SandboxServer) -> None:
    alpha_buy(sandbox)
    beta_buy(sandbox)

    text = requests.get(f"{sandbox.url}/ledger", timeout=TIMEOUT_S).text

    assert not [word for word in ("Durand", "Paix", "Lyon", "secret", PASSWORD, "0601020304") if word in text]


def test_a_reset_empties_the_ledger_and_numbers_go_on(sandbox: SandboxServer) -> None:
    number = beta_buy(sandbox).number
    post(f"{sandbox.control_url}/reset")
    assert count(sandbox) == 0
    assert beta_buy(sandbox).number > number


def test_numbers_have_their_check_digit() -> None:
    # The example of the postal union's standard S10: RR473124829FI.
    assert alpha_number(47312482) == "XU473124829FR"
    first, second = State(Ledger()).numbers("beta", 2, NO_FAULT)
    assert int(first[2:]) + 1 == int(second[2:])
