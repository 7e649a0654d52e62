"""Querysets that all apps share."""

from typing import Any, Self

from django.db import models


class ForShop(models.QuerySet[Any]):
    """Rows that belong to shops; every query for a shop's request starts with `for_shop`."""

    def for_shop(self, shop_id: str) -> Self:
        return self.filter(shop=shop_id)
