"""The carriers' clients: plain Python, two base classes, one exception tree.

A third carrier is a package with clients like these, an entry in `CARRIERS` and one in `TRACKERS`, and its products in
the catalogue. docs/architecture.md lists what else the service needs then.
"""

from collections.abc import Mapping
from typing import Final

from carriers.alpha.client import Alpha
from carriers.alpha.tracking import AlphaTracker
from carriers.base import Carrier
from carriers.beta.client import Beta
from carriers.beta.tracking import BetaTracker
from carriers.tracking import Tracker

CARRIERS: Final[Mapping[str, type[Carrier]]] = {Alpha.name: Alpha, Beta.name: Beta}
TRACKERS: Final[Mapping[str, type[Tracker]]] = {AlphaTracker.name: AlphaTracker, BetaTracker.name: BetaTracker}
