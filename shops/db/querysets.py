"""Querysets that all apps share."""

from typing import Any, Self

from django.db import models


class ForShop(models.QuerySet[Any]):
    """Rows that belong to shops; every query for a shop's request starts with `for_shop`."""

    def for_shop(self, shop_id: str) -> Self:
        return self.filter(shop=shop_id)

    def live(self) -> Self:
        """Leave out test shops' rows: all that is counted, listed in a file or paid for starts with it."""
        return self.filter(shop__is_test=False)
