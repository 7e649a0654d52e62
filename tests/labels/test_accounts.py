"""A label keeps the carrier's account that it was bought on, whatever replaces the contract."""

from datetime import timedelta
from io import BytesIO

import pytest
from django.core.management import call_command
from django.db.models import QuerySet
from django.utils import timezone
from pypdf import PdfReader

from config.retention import apply_retention
from labels.lifecycle import cancelling
from labels.lifecycle.reconciling import reconcile
from labels.models import DepositSlip, LabelState, ShippingLabel
from labels.pdfs import storage
from labels.slips import making
from shops.contracts.accounts import CarrierAccount, credentials_for
from shops.contracts.models import CarrierContract
from shops.retention import remove_accounts
from tests.labels.admin.pages import LABELS
from tests.labels.conftest import Sandbox, bought, row
from tests.labels.gates import during
from tests.labels.interruptions import WAIT_S, interrupt, pass_time
from tests.labels.orders import ACCOUNT, PASSWORD, PRODUCT, order, post
from tests.shops.commands import call
from tests.support.api import Caller, logged_in

OTHER, PICKUP = "19869511", "19869522"
TEN_BY_FIFTEEN, A4 = (100, 150), (210, 297)
CONFIGURE = ("configure_carrier", "own", "alpha", "--all-products", "--password-stdin")


def configure(number: str, *more: str, stdin: str = PASSWORD["alpha"]) -> None:
    call(*CONFIGURE, "--account-number", number, *more, stdin=stdin)


def accounts(sandbox: Sandbox) -> list[str]:
    """The accounts that the parcels were bought on, the latest first."""
    return [parcel.account for parcel in sandbox.made()]


def test_a_pickup_product_is_bought_on_the_pickup_account(buyer: Caller, sandbox: Sandbox) -> None:
    configure(ACCOUNT["alpha"], "--pickup-account-number", PICKUP, stdin="255562\n123456\n")
    assert bought(buyer, "relais").account_number == PICKUP
    assert bought(buyer).account_number == ACCOUNT["alpha"]
    assert sorted(accounts(sandbox)) == sorted([PICKUP, ACCOUNT["alpha"]])


@pytest.mark.parametrize("product_code", ["alpha-13", "relais"])
def test_a_label_is_cancelled_on_the_account_that_it_was_bought_on(
    product_code: str, buyer: Caller, sandbox: Sandbox
) -> None:
    configure(ACCOUNT["alpha"], "--pickup-account-number", PICKUP)
    label = bought(buyer, product_code)
    configure(OTHER)
    cancelling.cancel(label)
    assert row().state == LabelState.CANCELLED
    assert sandbox.is_cancelled(sandbox.made()[0])


def test_a_label_is_looked_for_on_the_account_that_it_was_bought_on(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade")
    configure(OTHER)
    pass_time(WAIT_S)
    reconcile()
    assert row().state == LabelState.FAILED
    assert all(map(sandbox.is_cancelled, sandbox.made()))


def test_a_former_account_keeps_its_own_secret(buyer: Caller) -> None:
    configure(ACCOUNT["alpha"], "--pickup-account-number", PICKUP, stdin="111111\n222222\n")
    configure(OTHER, stdin="333333")
    contract = CarrierContract.objects.get(carrier_code="alpha")
    secrets = {number: credentials_for(contract, number).password for number in (ACCOUNT["alpha"], PICKUP, OTHER)}
    assert secrets == {ACCOUNT["alpha"]: "111111", PICKUP: "222222", OTHER: "333333"}
    assert "111111" not in str(CarrierAccount.objects.values())
    configure(ACCOUNT["alpha"], stdin="444444")
    assert credentials_for(CarrierContract.objects.get(carrier_code="alpha"), ACCOUNT["alpha"]).password == "444444"
    assert CarrierAccount.objects.filter(account_number=OTHER).exists()


def test_labels_of_before_are_asked_about_on_the_contracts_account(buyer: Caller) -> None:
    label = bought(buyer)
    ShippingLabel.objects.update(account_number="")
    cancelling.cancel(label)
    assert row().state == LabelState.CANCELLED


def test_a_former_account_is_kept_for_90_days(buyer: Caller) -> None:
    label = bought(buyer)
    configure(OTHER)
    removed = {kind.name: count for kind, count in apply_retention()}
    assert removed["replaced accounts"] == 0
    CarrierAccount.objects.update(replaced_at=timezone.now() - timedelta(days=91))
    removed = {kind.name: count for kind, count in apply_retention()}
    assert (removed["replaced accounts"], CarrierAccount.objects.count()) == (1, 0)
    with pytest.raises(cancelling.CancelError, match="19869502, which it was bought on, is not kept"):
        cancelling.cancel(label)
    assert row().state == LabelState.GENERATED


def test_the_pickup_account_in_use_is_never_removed(buyer: Caller) -> None:
    configure(ACCOUNT["alpha"], "--pickup-account-number", PICKUP, stdin="111111\n222222\n")
    list(apply_retention())
    assert CarrierAccount.objects.get().replaced_at is None


def test_an_account_that_is_set_again_while_the_old_are_removed_stays(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(OTHER)
    now = timezone.now()
    CarrierAccount.objects.update(replaced_at=now - timedelta(days=91))
    again = ("--pickup-account-number", ACCOUNT["alpha"])
    during(monkeypatch, QuerySet, "delete", before=lambda *_: configure(OTHER, *again, stdin="255562\n123456\n"))
    remove_accounts(before=now - timedelta(days=90), batch_size=500, is_dry_run=False)
    contract = CarrierContract.objects.get(carrier_code="alpha")
    assert credentials_for(contract, ACCOUNT["alpha"]).password == "123456"


def test_a_new_key_opens_the_accounts_too(buyer: Caller) -> None:
    configure(OTHER)
    before = CarrierAccount.objects.get().encrypted_credentials
    call_command("encrypt_credentials")
    after = CarrierAccount.objects.get()
    assert after.encrypted_credentials != before
    assert after.secret["password"] == PASSWORD["alpha"]


def test_each_account_has_a_deposit_slip_of_its_own(buyer: Caller) -> None:
    first = bought(buyer, PRODUCT["beta"])
    call(
        *("configure_carrier", "own", "beta", "--all-products", "--password-stdin", "--account-number", "804799"),
        stdin="another",
    )
    second = bought(buyer, PRODUCT["beta"])
    slips = making.make([first, second])
    assert [slip.account_number for slip in slips] == [ACCOUNT["beta"], "804799"]
    assert [slip.state for slip in DepositSlip.objects.all()] == ["made", "made"]


def paper_mm(label: ShippingLabel) -> tuple[int, int]:
    """The size of a bought label's page."""
    content = storage.read(label.pdf_key)
    assert content is not None
    (page,) = PdfReader(BytesIO(content)).pages
    return round(page.mediabox.width / 72 * 25.4), round(page.mediabox.height / 72 * 25.4)


def test_the_contracts_paper_serves_an_order_that_names_none(buyer: Caller) -> None:
    assert paper_mm(bought(buyer)) == TEN_BY_FIFTEEN
    configure(ACCOUNT["alpha"], "--label-format", "A4")
    assert paper_mm(bought(buyer)) == A4
    assert post(buyer, order(labelFormat="10x15")).status_code == 201
    assert paper_mm(ShippingLabel.objects.latest("id")) == TEN_BY_FIFTEEN


def test_a_label_is_printed_again_on_the_paper_that_it_was_bought_on(buyer: Caller, sandbox: Sandbox) -> None:
    configure(ACCOUNT["alpha"], "--label-format", "A4")
    label = interrupt(buyer, sandbox, "nolabel")
    configure(ACCOUNT["alpha"])
    assert reconcile() == {LabelState.GENERATED: 1}
    assert paper_mm(label) == A4


def test_staff_see_the_account_that_a_label_was_bought_on(buyer: Caller) -> None:
    label = bought(buyer)
    staff = logged_in("view_shippinglabel")
    assert "replaced since" not in staff.get(f"{LABELS}{label.id}/change/").text
    configure(OTHER)
    page = staff.get(f"{LABELS}{label.id}/change/").text
    assert f"<dt>Account</dt><dd>{ACCOUNT['alpha']} <small>replaced since</small></dd>" in page
