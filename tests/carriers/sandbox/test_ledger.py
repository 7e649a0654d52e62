"""The ledger: filters, concurrency, and the file that keeps it over a restart."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests

from carriers.sandbox.server import SandboxServer
from carriers.sandbox.state import NumberRange, alpha_number
from tests.carriers.sandbox.alpha.orders import PASSWORD, REFERENCE, alpha_buy, cancel, reprint
from tests.carriers.sandbox.beta.orders import beta_buy
from tests.carriers.sandbox.control import TIMEOUT_S, arm, get, ledger, post


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


def test_the_file_restores_everything(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with SandboxServer(ledger_path=path) as first:
        bought = alpha_buy(first, count=2)
        (kept,), (_, cancelled) = bought.texts("reservationNumber"), bought.texts("skybillNumber")
        beta_number = beta_buy(first).number
        cancel(first, cancelled)
        before = ledger(first)
    with SandboxServer(ledger_path=path) as second:
        assert ledger(second) == before
        assert [row["cancelled"] for row in before] == [False, True, False]
        assert reprint(second, kept).code == "0"
        assert alpha_buy(second).texts("skybillNumber")[0] > cancelled
        assert beta_buy(second).number > beta_number


def test_an_unanswered_purchase_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with SandboxServer(ledger_path=path) as first:
        for fault in ("html502", "made502"):
            arm(first, fault, count=1)
            assert alpha_buy(first).response.status_code == 502
        assert path.read_bytes().count(b"\n") == 1


def test_a_line_cut_short_by_a_kill_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with SandboxServer(ledger_path=path) as first:
        beta_buy(first)
    with path.open("ab") as file:
        file.write(b'{"event": "made", "carr')
    for expected in (1, 2):
        with SandboxServer(ledger_path=path) as again:
            assert count(again) == expected
            beta_buy(again)


def test_a_reset_empties_the_ledger_and_numbers_go_on(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with SandboxServer(ledger_path=path) as first:
        number = beta_buy(first).number
        post(f"{first.control_url}/reset")
        assert count(first) == 0
        assert beta_buy(first).number > number
        post(f"{first.control_url}/reset")
    with SandboxServer(ledger_path=path) as second:
        assert count(second) == 0
        assert beta_buy(second).number > number


def test_numbers_have_their_check_digit() -> None:
    # The example of the postal union's standard S10: RR473124829FI.
    assert alpha_number(47312482) == "XU473124829FR"
    assert NumberRange("beta", "6A00000000041").take() == "6A00000000042"
