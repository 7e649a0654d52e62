"""The carriers' clients: plain Python, one base class, one exception tree.

A third carrier is a package with a client like these, an entry in `CARRIERS`, and its products in the catalogue.
docs/architecture.md lists what else the service needs then.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from carriers.alpha.client import Alpha
from carriers.base import Carrier
from carriers.beta.client import Beta

CARRIERS: Final[Mapping[str, type[Carrier]]] = MappingProxyType({Alpha.name: Alpha, Beta.name: Beta})
