"""Querysets that every app shares."""

from typing import Any, Self

from django.db import models


class ForShop(models.QuerySet[Any]):
    """What a shop asks for starts here."""

    def for_shop(self, shop_id: str) -> Self:
        return self.filter(shop=shop_id)
