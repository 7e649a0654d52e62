"""The 29 everyday tasks of the staff, each done by the role that has it, from the first page, in three actions at most.

An action is a click on a link or a button, Enter in the search box included; typing and choosing in a form are none.
"""

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, Self

import lxml.html
import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pypdf import PdfReader

from labels.figures.counting import recount
from labels.models import LabelState, ShippingLabel
from parcels.models import Parcel
from shops.contracts.models import CarrierContract
from shops.models import Shop
from shops.webhooks import endpoints
from shops.webhooks.models import DeliveryState, WebhookDelivery, WebhookEndpoint
from tests.labels.factories import ContractFactory, LabelFactory, publish
from tests.support.desk import member
from tests.support.factories import DestinationFactory, EventFactory, ShopFactory, import_parcel, ms_ago, promise

pytestmark = pytest.mark.django_db
LATE, SOON, LOST, DONE = "XU100000001FR", "XU100000002FR", "XU100000003FR", "XU100000004FR"
BOUGHT = "XU200000001FR"
REQUEST = "d" * 32


class Desk:
    """Somebody at the first page, whose actions are counted."""

    page: Any

    def __init__(self, browser: Any) -> None:
        self.browser, self.actions = browser, 0
        self.show(browser.get("/admin/"))

    def show(self, answer: Any) -> Self:
        assert answer.status_code == 200, answer
        self.content = answer.getvalue()
        self.kind = answer.headers["Content-Type"]
        if self.kind.startswith("text/html"):
            self.address = answer.request["PATH_INFO"]
            self.page = lxml.html.fromstring(self.content.decode(), base_url=f"http://testserver{self.address}")
            self.page.make_links_absolute()
        return self

    def search(self, text: str) -> Self:
        assert self.page.xpath("//input[@type='search' and @name='q']"), "no search box"
        self.actions += 1
        return self.show(self.browser.get("/admin/search/", {"q": text}, follow=True))

    def click(self, text: str) -> Self:
        """Click the first link with a text, or one whose name for readers of screens has it."""
        links = [link for link in self.page.iter("a") if text in f"{said(link)} {link.get('aria-label', '')}"]
        assert links, f"no link {text!r}"
        self.actions += 1
        return self.show(self.browser.get(links[0].get("href").removeprefix("http://testserver"), follow=True))

    def press(self, button: str, **fields: Any) -> Self:
        """Press a button of a form whose fields are filled in."""
        forms = [(form, each) for form in self.page.forms for each in form.iter("button") if button in said(each)]
        assert forms, f"no button {button!r}"
        form, pressed = forms[0]
        values: dict[str, Any] = {}
        for name, value in form.form_values():
            values.setdefault(name, []).append(value)
        values |= fields | ({pressed.get("name"): pressed.get("value", "")} if pressed.get("name") else {})
        send = self.browser.post if form.method == "POST" else self.browser.get
        self.actions += 1
        return self.show(send((form.action or self.address).removeprefix("http://testserver"), values, follow=True))

    def copy(self, name: str) -> str:
        """Press a button of the page's script, which puts a text into the clipboard."""
        (button,) = self.page.xpath(f"//button[@data-copy='{name}']")
        self.actions += 1
        return str(self.page.get_element_by_id(button.get("data-copy")).text_content())

    def sees(self, *texts: str) -> None:
        shown = said(self.page)
        assert [text for text in texts if text not in shown] == []

    @property
    def pdf(self) -> str:
        assert self.kind == "application/pdf"
        return "".join(page.extract_text() for page in PdfReader(BytesIO(self.content)).pages)


def said(element: Any) -> str:
    return " ".join(element.text_content().split())


@pytest.fixture
def world(settings: Any) -> Shop:
    """A shop's day: parcels late, waiting, lost and delivered; labels to decide, refused, bought; a broken endpoint."""
    settings.WEBHOOK_ALLOW_PRIVATE = True
    shop: Shop = ShopFactory(id="lumiere", name="Maison Lumière")
    endpoints.create(shop=shop, url="https://203.0.113.1/")
    to = DestinationFactory(firstName="Anaïs", lastName="Le Goff", name="Anaïs Le Goff", city="Brest")
    parcels: dict[str, dict[str, Any]] = {
        LATE: {"lastStatus": "IN_TRANSIT", "estimatedDeliveryDateWindow": promise(ms_ago(1)), "destination": to}
        | {"orderNumber": "A-1000", "orderId": "77", "customerEmail": "anais@mail.example"},
        SOON: {"lastStatus": "WAITING_FOR_PICKUP", "endDepositDate": ms_ago(-1)},
        LOST: {"lastStatus": "EXCEPTION"},
        DONE: {"lastStatus": "DELIVERED", "deliveryDate": ms_ago(1)}
        | {"events": [EventFactory(createdAt=ms_ago(1), label="Remis au destinataire", status="DELIVERED")]},
    }
    for number, facts in parcels.items():
        own: dict[str, Any] = {
            "carrierCode": "beta",
            "createdAt": ms_ago(3),
            "estimatedDeliveryDateWindow": None,
            "deliveryDate": None,
        }
        numbers = {"trackingId": number, "trackingNumbers": [number]}
        import_parcel(shop, **own | {"lastStatusUpdatedAt": ms_ago(1), "endDepositDate": None} | numbers | facts)
    ContractFactory(shop=shop, carrier_code="beta")
    CarrierContract.objects.update(tracking_refused_at=timezone.now())
    LabelFactory(shop=shop, state=LabelState.UNKNOWN, carrier_code="alpha", days_ago=1)
    refusal = {"state": LabelState.FAILED, "error_code": "ALPHA_ADDRESS_REJECTED", "carrier_code": "alpha"}
    LabelFactory(shop=shop, request_id=REQUEST, **refusal)
    label: ShippingLabel = LabelFactory(shop=shop, tracking_numbers=[BOUGHT], days_ago=3)
    publish(label)
    WebhookDelivery.objects.update(state=DeliveryState.DEAD)
    WebhookEndpoint.objects.update(failing_since=timezone.now())
    recount()
    return shop


def find(text: str, *seen: str) -> Callable[[Desk], None]:
    return lambda desk: desk.search(text).sees(*seen)


def row(title: str, *seen: str) -> Callable[[Desk], None]:
    return lambda desk: desk.click(title).sees(*seen)


def copies(desk: Desk) -> None:
    assert desk.search(LATE).copy("copy-fr").startswith(f"Colis {LATE} (commande A-1000)")


def files_a_claim(desk: Desk) -> None:
    pdf = desk.search(LATE).click("Claim (PDF)").pdf
    assert "Anaïs Le Goff" in pdf


def proves_a_delivery(desk: Desk) -> None:
    desk.search(DONE).sees("Remis au destinataire", "Delivered")
    assert "The carrier reported the delivery" in desk.click("Claim (PDF)").pdf


def prints_a_label(desk: Desk) -> None:
    desk.search(ShippingLabel.objects.get(tracking_numbers=[BOUGHT]).id).click("Open or print")
    assert desk.kind == "application/pdf"


def decides(desk: Desk) -> None:
    desk.click("Labels to decide").click("Not made").press("Mark as not made")
    assert ShippingLabel.objects.filter(state=LabelState.FAILED).count() == 2


def gets_a_sheet(desk: Desk) -> None:
    desk.click("Lists of numbers").press("XLSX", numbers=f"{LATE}\n{DONE}")
    assert "spreadsheet" in desk.kind


def erases(desk: Desk) -> None:
    desk.click("Erase or export a customer").press("Find", shop_id="lumiere", email="anais@mail.example")
    desk.press("Erase the customer")
    assert not Parcel.objects.filter(customer_email="anais@mail.example").exists()


def hands_over(desk: Desk) -> None:
    member("Operations")
    desk.search(LATE).press("Hand over", to="operations").sees("taken by operations")


def delivers_again(desk: Desk) -> None:
    delivery = WebhookDelivery.objects.first()
    assert delivery
    desk.click("Webhook deliveries").press("Run", action="replay", _selected_action=str(delivery.pk))
    assert WebhookDelivery.objects.filter(pk=delivery.pk, state=DeliveryState.QUEUED).exists()


def checks_an_invoice(desk: Desk) -> None:
    desk.click("Lists of numbers").press("Look up", numbers=f"{BOUGHT};9,5\n6A00000000009;1", column="weight")
    desk.sees("9.5", "6A00000000009")


def takes_the_months_figures(desk: Desk) -> None:
    desk.click("Figures for finance").click("XLSX")
    assert "spreadsheet" in desk.kind


def gives_a_link(desk: Desk) -> None:
    bob = User.objects.create_user("bob", is_staff=True)
    desk.click("Users").press("Run", action="give_password_link", _selected_action=str(bob.pk)).sees("bob")


THIRTY = " ".join([LATE, DONE, BOUGHT, *(f"6A{number:011}" for number in range(27))])
NOTE = "Called the shop."
TASKS: dict[str, dict[str, Callable[[Desk], None]]] = {
    "Support": {
        "where is this parcel": find(LATE, "Maison Lumière"),
        "the parcel of an order": find("A-1000", LATE),
        "a customer's parcel, by e-mail": find("anais@mail.example", LATE),
        "a customer's parcel, by name and town": find("le goff brest", LATE),
        "tell the shop in its language": copies,
        "a file for a claim": files_a_claim,
        "the proof of a delivery": proves_a_delivery,
        "print a label": prints_a_label,
        "decide a label that is open": decides,
        "labels bought and not handed in": row("Bought and not handed in: beta", BOUGHT),
        "parcels past their promise": row("Past their promise", LATE),
        "parcels that go back from their pickup point": row("Go back from their pickup point", SOON),
        "lost, damaged, refused": row("Lost, damaged or refused", LOST),
        "thirty numbers from an e-mail": find(THIRTY, "Found: 3", "Not found: 27"),
        "a list of numbers as a sheet": gets_a_sheet,
        "a request by its id": find(REQUEST, "ALPHA_ADDRESS_REJECTED"),
        "which webhooks a parcel sent": find(LATE, "parcel.status_changed"),
        "take a row of the queue": lambda desk: desk.press("Take").sees("taken by"),
        "leave a note on a parcel": lambda desk: desk.search(LATE).press("Leave the note", note=NOTE).sees(NOTE),
        "hand a parcel over": hands_over,
        "erase a customer": erases,
    },
    "Operations": {
        "orders refused today, by reason and shop": row("ALPHA_ADDRESS_REJECTED · Maison Lumière", "Maison Lumière"),
        "a shop's endpoint that fails": row("Webhook endpoints that fail", "203.0.113.1"),
        "a contract that its carrier refuses": row("Contracts whose credentials are refused", "Maison Lumière"),
        "deliver a webhook again": delivers_again,
    },
    "Accounting": {
        "the month's figures as a sheet": takes_the_months_figures,
        "check a carrier's invoice": checks_an_invoice,
    },
    "Reporting": {"yesterday by carrier": lambda desk: desk.sees("Yesterday", "Handed in", "Within promise")},
    "Accounts": {"give a colleague a link to set the password": gives_a_link},
}


def steps() -> Iterator[tuple[str, str]]:
    return ((role, task) for role, tasks in TASKS.items() for task in tasks)


def test_there_are_29() -> None:
    assert len(list(steps())) == 29


@pytest.mark.parametrize("role", TASKS)
def test_each_task_takes_at_most_three_actions(role: str, world: Shop) -> None:
    browser, taken = member(role), {}
    for task, do in TASKS[role].items():
        desk = Desk(browser)
        do(desk)
        taken[task] = desk.actions
    assert {task: actions for task, actions in taken.items() if actions > 3} == {}
