"""The credentials that a carrier is asked with: those of each shop's contract, or the shop's id alone."""

import logging
from collections.abc import Iterable

from carriers.shipment import Credentials
from carriers.tracking import Tracker
from parcels.tracking import metrics
from parcels.tracking.due import Outcome, defer_shop
from shops.contracts.accounts import others_of
from shops.contracts.encryption import UnreadableSecretError
from shops.contracts.models import CarrierContract

logger = logging.getLogger("parcels.tracking")


class Contracts:
    """The contracts of a batch's shops, read at once; a shop without a usable one is deferred.

    `credentials` are those of the shops that can be asked for; `others` are those of their other accounts, on which
    parcels may have been bought.
    """

    def __init__(self, tracker: Tracker, shop_ids: Iterable[str]) -> None:
        self._carrier_code = tracker.name
        self._contracts: dict[str, CarrierContract] = {}
        self.credentials = {shop_id: Credentials(shop_id=shop_id) for shop_id in shop_ids}
        self.others: dict[str, list[Credentials]] = {}
        if tracker.needs_contract:
            self._read()

    def _read(self) -> None:
        rows = CarrierContract.objects.filter(carrier_code=self._carrier_code, shop__in=self.credentials)
        self._contracts = {contract.shop_id: contract for contract in rows.select_related("shop")}
        for shop_id in list(self.credentials):
            contract = self._contracts.get(shop_id)
            if contract is None:
                self._defer(shop_id, Outcome.NO_CONTRACT)
            elif contract.is_tracking_refused:
                self._defer(shop_id, Outcome.CREDENTIALS_REJECTED)
            else:
                try:
                    self.credentials[shop_id] = contract.credentials
                except UnreadableSecretError:
                    logger.warning(
                        "carrier not asked", extra={"contract": contract.id, "reason": "UnreadableSecretError"}
                    )
                    self._defer(shop_id, Outcome.UNAVAILABLE)
        self.others = others_of(list(self._contracts.values()))

    def _defer(self, shop_id: str, outcome: Outcome) -> None:
        defer_shop(self._carrier_code, shop_id, outcome)
        del self.credentials[shop_id]

    def refuse(self, shop_id: str) -> None:
        """Stop asking for a shop whose credentials the carrier refuses, until its contract changes; tell staff once."""
        contract = self._contracts.get(shop_id)
        if contract and contract.refuse_tracking():
            extra = {"carrier": self._carrier_code, "contract": contract.id, "shop": shop_id}
            logger.error("tracking stopped: the carrier refuses the contract's credentials", extra=extra)
            if not contract.is_test:
                metrics.REFUSED_CONTRACTS.labels(self._carrier_code).inc()
        self._defer(shop_id, Outcome.CREDENTIALS_REJECTED)
