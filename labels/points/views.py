"""The endpoint of pickup points."""

from typing import TYPE_CHECKING, cast

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from labels.points import finding
from labels.points.serializers import PointQuerySerializer, as_json
from shops.api.query_fields import read_query

if TYPE_CHECKING:
    from shops.models import Shop


class PointViewSet(ViewSet):
    """The pickup points of a shop's products."""

    http_method_names = ["get", "head"]

    def find(self, request: Request) -> Response:
        """Answer the points near a place that an order would be sold to, nearest first."""
        search = read_query(request, PointQuerySerializer)
        shop = cast("Shop", request.user)
        found = finding.find(shop_id=shop.id, sender_address=shop.sender_address, search=search)
        return Response(as_json(found, search["limit"]))
