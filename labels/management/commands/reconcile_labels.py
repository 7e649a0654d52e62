"""Finishes or classifies label purchases that were interrupted: safe at any time, on any number of machines at once."""

from typing import Any

from labels.lifecycle.reconciling import reconcile
from shops.management import base


class Command(base.Command):
    """Finish or classify label purchases that were interrupted; print how many it took up, by state on stderr."""

    def handle(self, *args: Any, **options: Any) -> None:
        states = reconcile()
        for state, count in sorted(states.items()):
            self.stderr.write(f"{count} {state}")
        self.print(str(states.total()))
