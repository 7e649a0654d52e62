"""The parcel endpoints: look-up by number, and search."""

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.viewsets import GenericViewSet

from parcels import queries
from parcels.models import Parcel
from shops.api.authentication import ForbiddingBearerAuthentication
from shops.api.errors.exceptions import ApiError
from shops.api.errors.plain import PARCEL_NOT_FOUND, SEARCH_WITHOUT_FILTER

FILTERS = ("orderName", "email")
NOT_FOUND = "parcel_service.not_found"  # in the environ of a look-up that has found nothing before Django


class ParcelViewSet(GenericViewSet[Parcel]):
    authentication_classes = [ForbiddingBearerAuthentication]
    queryset = Parcel.objects.none()
    http_method_names = ["get", "head"]

    def retrieve(self, request: Request, tracking_number: str) -> HttpResponse:
        """Answer the newest parcel that has this tracking number."""
        is_absent = request.META.get(NOT_FOUND, False)
        document = None if is_absent else queries.find(shop_id=str(request.user.pk), number=tracking_number)
        if document is None:
            raise ApiError(PARCEL_NOT_FOUND, number=tracking_number)
        return answer(document)

    def search(self, request: Request) -> HttpResponse:
        """Answer the newest parcels, at most 50, with this order number, this e-mail, or both."""
        order_number, email = map(request.query_params.get, FILTERS)
        found = queries.search(shop_id=str(request.user.pk), order_number=order_number, email=email)
        if found is None:
            raise ApiError(SEARCH_WITHOUT_FILTER)
        return answer(found)


def answer(body: bytes) -> HttpResponse:
    """Answer JSON as the database gave it. DRF's Response would render it later, which costs 5 % of a look-up."""
    return HttpResponse(body, content_type="application/json")
