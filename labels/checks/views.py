"""The endpoint that checks an order."""

from typing import TYPE_CHECKING, cast

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from labels.checks import checking
from labels.serializers import ignored_header, read_order
from shops.api.query_fields import read_query
from shops.api.request_body import sent_body

if TYPE_CHECKING:
    from shops.models import Shop


class OrderCheckViewSet(ViewSet):
    """Orders that are only checked."""

    http_method_names = ["post"]

    def create(self, request: Request) -> Response:
        """Answer what would refuse the order; buy nothing."""
        read_query(request)
        body, shop = sent_body(request), cast("Shop", request.user)
        if not isinstance(body, dict):
            read_order(body, sender_address=shop.sender_address)
            raise ValidationError
        self.headers = ignored_header(body, sender_address=shop.sender_address)
        verdict = checking.check(shop_id=shop.id, body=body, sender_address=shop.sender_address)
        return Response(checking.as_json(verdict))
