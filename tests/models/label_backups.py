"""A database that is restored to an earlier moment and recovered from the labels' receipts, in a label's life."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from shutil import rmtree

from django.core.management import CommandError, call_command

from labels.models import ShippingLabel
from labels.pdfs import receipts
from tests.labels.interruptions import moment
from tests.labels.orders import RECIPIENT
from tests.models.label_world import World


@contextmanager
def restored(world: World, *, is_erased: bool) -> Iterator[None]:
    """Restore the database to the moment before the block, and recover; maybe the customer is erased before that."""
    world.open_storage()
    rmtree(world.folder / receipts.ROOT, ignore_errors=True)  # earlier stories' receipts
    for row in ShippingLabel.objects.all():
        receipts.write(row)  # as old as the row, by which time has passed
    restore = moment()
    yield
    if is_erased:
        with suppress(CommandError):  # a label of his is not over
            call_command("erase_customer", world.buyer.shop.id, RECIPIENT["email"], stdout=StringIO())
    restore()
    call_command("recover", stdout=StringIO())
