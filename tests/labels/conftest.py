"""A world in which labels are bought: the carriers' sandbox over real HTTP, a folder for PDFs, shops with contracts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from botocore.loaders import Loader
from django.db import OperationalError, connection
from pytest_django.fixtures import Settings

from carriers import CARRIERS
from carriers.base import Carrier
from carriers.sandbox.control import read_armed_fault
from carriers.sandbox.papers import Label
from carriers.sandbox.parcel import Purchase
from carriers.sandbox.routes import PATHS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import PurchasedLabel, Shipment
from labels.lifecycle import db_retry
from labels.models import LabelState, ShippingLabel
from labels.pdfs import storage
from shops.contracts import clients
from tests.carriers.sandbox.control import sold
from tests.labels.buckets import Bucket, keep_in, s3_server
from tests.labels.factories import ContractFactory
from tests.labels.orders import ACCOUNT, order, post
from tests.support.api import Caller, Response, assert_error
from tests.support.waiting import WAIT_TIMEOUT_S

T = TypeVar("T")
BUYING_PATHS = (PATHS["ALPHA_URL"], f"{PATHS['BETA_URL']}/generateLabel")


@dataclass(frozen=True)
class Sandbox:
    """Both carriers, empty at the start of a test."""

    server: SandboxServer

    def arm(self, fault: str, **facts: Any) -> None:
        """Let operations fail, as the sandbox's control endpoint does."""
        self.server.state.faults.arm(read_armed_fault({"fault": fault, **facts}))

    def disarm(self) -> None:
        self.server.state.faults.clear()

    def calls(self) -> int:
        """Count the requests to buy or to print."""
        counts = self.server.state.counts()
        return sum(counts.get(path, 0) for path in BUYING_PATHS)

    def questions(self) -> int:
        """Count the requests to the tracking service."""
        return self.server.state.counts().get(PATHS["ALPHA_TRACKING_URL"], 0)

    def made(self, reference: str | None = None) -> list[Purchase]:
        """The parcels that were bought, with this label's id if one is given."""
        return self.server.state.ledger.find(reference=reference)

    def is_cancelled(self, parcel: Purchase) -> bool:
        return parcel.key in self.server.state.ledger.cancelled

    def printed(self, parcel: Purchase) -> Label:
        """Return the facts on a parcel's label."""
        return sold(self.server, parcel.tracking_number).label


@pytest.fixture
def sandbox(sandbox_server: SandboxServer, settings: Settings) -> Iterator[Sandbox]:
    """The carriers, with new clients: their circuit breakers are closed."""
    sandbox_server.state.reset()
    endpoints = {name: asdict(each.sandbox_endpoint(sandbox_server.url)) for name, each in CARRIERS.items()}
    settings.CARRIER_ENDPOINTS = endpoints | {"beta": endpoints["beta"] | {"tracking_url": None}}
    clients.client.cache_clear()
    yield Sandbox(sandbox_server)
    sandbox_server.state.reset()  # ends what hangs
    clients.client.cache_clear()


@pytest.fixture
def short_timeout(settings: Settings) -> None:
    """A short deadline, for carriers that do not answer; on a busy machine too, they have made the parcel by then."""
    settings.CARRIER_TIMEOUT = 0.7
    clients.client.cache_clear()


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    """The PDFs' folder, and no limit on how many labels a test may ask for."""
    options = settings.STORAGES["labels"]["OPTIONS"] | {"location": str(tmp_path / "labels")}
    labels = settings.STORAGES["labels"] | {"OPTIONS": options}
    settings.STORAGES = settings.STORAGES | {"labels": labels}
    settings.RATE_LIMIT = (100_000, 60)
    return tmp_path / "labels"


@pytest.fixture(scope="session", autouse=True)
def s3_described_once() -> Iterator[None]:
    """Let all clients share botocore's descriptions of S3: to read them anew takes longer than all else of a test."""
    read: dict[Any, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loader, "_cache", property(lambda _: read, lambda *_: None), raising=False)
        yield


@pytest.fixture(scope="session")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    with s3_server(tmp_path_factory.mktemp("s3")) as made:
        yield made


@pytest.fixture(
    params=[
        pytest.param("folder", marks=pytest.mark.any_database),
        pytest.param("bucket", marks=pytest.mark.real_services),
    ]
)
def kept(request: pytest.FixtureRequest, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each of the two places for PDFs, empty."""
    kind: str = request.param
    if kind == "bucket":
        keep_in(settings, request.getfixturevalue("bucket").environment, monkeypatch)
        place: Any = storage.pdfs()
        place.bucket.objects.all().delete()
    return kind


@pytest.fixture
def buyer(transactional_db: None, own: Caller, sandbox: Sandbox) -> Caller:
    """The shop that asks, with a contract with each carrier. A purchase closes its connection while it calls."""
    for carrier_code in ACCOUNT:
        ContractFactory(shop=own.shop, carrier_code=carrier_code)
    return own


@pytest.fixture
def asker(own: Caller, sandbox: Sandbox) -> Caller:
    """The same for requests that never reach a purchase: within a transaction, which is faster."""
    for carrier_code in ACCOUNT:
        ContractFactory(shop=own.shop, carrier_code=carrier_code)
    return own


@pytest.fixture
def shipments(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> list[Shipment]:
    """Note what both clients are asked for, and let them refuse nothing."""
    asked: list[Shipment] = []

    def create_label(self: Carrier, shipment: Shipment, *_: object) -> PurchasedLabel:
        asked.append(shipment)
        return PurchasedLabel(
            tuple(f"N{rank}" for rank, _ in enumerate(shipment.packages)), {"label": b"%PDF-1.4 %%EOF"}
        )

    for carrier in ("alpha", "beta"):
        monkeypatch.setattr(type(clients.client(carrier, is_test=False)), "create_label", create_label)
    return asked


@pytest.fixture
def one_at_a_time(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bulkhead for one request of each carrier; others are refused at once unless the test lets them wait."""
    settings.CARRIER_CONCURRENCY = 1
    monkeypatch.setattr("shops.contracts.bulkhead.WAIT_TIMEOUT_S", 0.0)


@pytest.fixture
def long_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let requests wait for the bulkhead as long as a busy machine needs."""
    monkeypatch.setattr("shops.contracts.bulkhead.WAIT_TIMEOUT_S", WAIT_TIMEOUT_S)


@contextmanager
def nothing_written(*states: LabelState) -> Iterator[None]:
    """Let the database fail from the moment at which a label would come into one of these states."""

    def refuse(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("UPDATE") and {*states} & set(map(str, params)):
            raise OperationalError
        return execute(sql, params, many, context)

    with pytest.MonkeyPatch.context() as patched, connection.execute_wrapper(refuse):
        patched.setattr(db_retry, "DB_RETRY_TIMEOUT_S", -1)
        yield


nothing_recorded = partial(nothing_written, LabelState.RECEIVED, LabelState.UNKNOWN)
nothing_finished = partial(nothing_written, LabelState.GENERATED)


def assert_coded(response: Response, status: int, code: str) -> str:
    """Check that an answer is an error with a code, and nothing else; return its message."""
    assert_error(response, status, code=code)
    message: str = response.json()["message"]
    return message


def bought(caller: Caller, product_code: str = "alpha-13", **changes: Any) -> ShippingLabel:
    response = post(caller, order(product_code, **changes))
    assert response.status_code == 201, response.content
    label: ShippingLabel = ShippingLabel.objects.get(id=response.json()["id"])
    return label


CONTROL = "5499999999"  # the order of a label that is bought to be found


def row() -> ShippingLabel:
    """The one label there is, beside a control."""
    label: ShippingLabel = ShippingLabel.objects.exclude(order_id=CONTROL).get()
    return label
