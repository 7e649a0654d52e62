"""The credentials that a carrier is asked with: those of each shop's contract, or the shop's id alone."""

import logging
from collections.abc import Iterable, Sequence

from carriers.shipment import Credentials
from carriers.tracking import Tracker
from parcels.tracking import metrics
from parcels.tracking.due import Outcome, defer_shop
from shops.contracts.accounts import others_of
from shops.contracts.encryption import UnreadableSecretError
from shops.contracts.models import CarrierContract

logger = logging.getLogger("parcels.tracking")


class Contracts:
    """The contracts of a batch's shops, read at once; a shop without a usable one is deferred."""

    def __init__(self, tracker: Tracker, shop_ids: Iterable[str]) -> None:
        self._carrier_code = tracker.name
        self._credentials = {shop_id: Credentials(shop_id=shop_id) for shop_id in shop_ids}
        self._contracts: dict[str, CarrierContract] = {}
        self._others: dict[str, list[Credentials]] = {}
        if tracker.needs_contract:
            self._read()

    def _read(self) -> None:
        found = CarrierContract.objects.filter(
            carrier_code=self._carrier_code, shop__in=self._credentials
        ).select_related("shop")
        self._contracts = {contract.shop_id: contract for contract in found}
        for shop_id in list(self._credentials):
            contract = self._contracts.get(shop_id)
            if contract is None:
                self._defer(shop_id, Outcome.NO_CONTRACT)
            elif contract.is_tracking_refused:
                self._defer(shop_id, Outcome.CREDENTIALS_REJECTED)
            else:
                self._decrypt(contract)
        self._others = others_of(list(self._contracts.values()))

    def _decrypt(self, contract: CarrierContract) -> None:
        try:
            self._credentials[contract.shop_id] = contract.credentials
        except UnreadableSecretError:
            logger.warning("carrier not asked", extra={"contract": contract.id, "reason": "UnreadableSecretError"})
            self._defer(contract.shop_id, Outcome.UNAVAILABLE)

    def _defer(self, shop_id: str, outcome: Outcome) -> None:
        defer_shop(self._carrier_code, shop_id, outcome)
        del self._credentials[shop_id]

    def __contains__(self, shop_id: str) -> bool:
        return shop_id in self._credentials

    def credentials(self, shop_id: str) -> Credentials:
        return self._credentials[shop_id]

    def others(self, shop_id: str) -> Sequence[Credentials]:
        """Return the credentials of the shop's other accounts, on which its parcels may have been bought."""
        return self._others.get(shop_id, ())

    def refuse(self, shop_id: str) -> None:
        """Stop asking for a shop whose credentials the carrier refuses, until its contract changes; tell staff once."""
        contract = self._contracts.get(shop_id)
        if contract and contract.refuse_tracking():
            extra = {"carrier": self._carrier_code, "contract": contract.id, "shop": shop_id}
            logger.error("tracking stopped: the carrier refuses the contract's credentials", extra=extra)
            if not contract.is_test:
                metrics.REFUSED_CONTRACTS.labels(self._carrier_code).inc()
        self._defer(shop_id, Outcome.CREDENTIALS_REJECTED)
