"""The wire clients of the carriers: plain Python, one interface, one exception tree.

A third carrier is one new module with a client like these, one line in `CARRIERS`, and its products in the
catalogue; the README says what the rest of the service needs then.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from carriers.alpha.client import AlphaClient
from carriers.base import Carrier
from carriers.beta.client import BetaClient

CARRIERS: Final[Mapping[str, type[Carrier]]] = MappingProxyType(
    {
        AlphaClient.name: AlphaClient,
        BetaClient.name: BetaClient,
    }
)
