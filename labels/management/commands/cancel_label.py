"""Cancels a bought label."""

import logging
from typing import Any

from django.core.management.base import CommandError, CommandParser

from labels.lifecycle import decisions
from labels.lifecycle.cancelling import CancelError
from labels.models import LabelState, ShippingLabel
from shops.management import base


class Command(base.Command):
    """Cancel a bought label, at the carrier where that is possible; its shop can't retrieve it any more."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("label_id", metavar="LABEL_ID")

    def handle(self, *args: Any, **options: Any) -> None:
        label_id = options["label_id"]
        label = None if "\0" in label_id else ShippingLabel.objects.defer("pdf").filter(id=label_id).first()
        if label is None:
            raise CommandError("LABEL_ID: there is no such label")
        logging.disable(logging.WARNING)  # what the carrier was asked: the result is said below, in one line
        try:
            cancelled = decisions.cancel(label=label)
        except CancelError as error:
            raise CommandError(f"LABEL_ID: {error}") from None
        finally:
            logging.disable(logging.NOTSET)
        if cancelled.state == LabelState.CANCELLED:
            self.report_done(f"Label {label.id} is cancelled.")
        else:
            self.report_done(f"Label {label.id}: {label.carrier_code} could not cancel it yet; it is tried again.")
