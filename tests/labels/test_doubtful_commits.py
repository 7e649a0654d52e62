"""A reservation that raised and is committed later leaves no row beside that of the one made again."""

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection

from labels.lifecycle import purchase
from labels.models import ShippingLabel
from tests.labels.conftest import Sandbox
from tests.labels.interruptions import BETA, KEY
from tests.labels.orders import order, post
from tests.support.api import Caller
from tests.support.waiting import WAIT_TIMEOUT_S, until

pytestmark = pytest.mark.real_services


class LateCommit:
    """The reservation raises; the server commits its row when a statement waits for it, or at the end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_over = threading.Event()
        self.committing: threading.Thread | None = None
        self.monkeypatch = monkeypatch
        monkeypatch.setattr(purchase.INSERT, "start", self.raise_and_commit_late)

    def raise_and_commit_late(self, label: ShippingLabel) -> None:
        self.monkeypatch.undo()
        connection.set_autocommit(False)
        purchase.INSERT.start(label)()
        session: Any = connection.connection
        connection.connection = None
        self.committing = threading.Thread(target=self.commit, args=(session,))
        self.committing.start()
        raise OperationalError("the connection was lost")

    def commit(self, session: "psycopg.Connection[Any]") -> None:
        with closing(session), psycopg.connect(session.info.dsn, autocommit=True) as observer:
            until(lambda: self.is_over.is_set() or is_waited_for(observer))
            session.commit()

    def end(self) -> None:
        self.is_over.set()
        if self.committing:
            self.committing.join(WAIT_TIMEOUT_S)


def is_waited_for(observer: "psycopg.Connection[Any]") -> bool:
    return observer.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is not None


@pytest.fixture
def late_commit(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> Iterator[LateCommit]:
    made = LateCommit(monkeypatch)
    yield made
    made.end()


def test_the_order_is_reserved_again_and_bought_once(late_commit: LateCommit, buyer: Caller, sandbox: Sandbox) -> None:
    bought = post(buyer, order(BETA), key=KEY)
    assert bought.status_code == 201
    late_commit.end()
    assert (ShippingLabel.objects.count(), len(sandbox.made())) == (1, 1)
    assert post(buyer, order(BETA), key=KEY).json()["id"] == bought.json()["id"]
    assert len(sandbox.made()) == 1
