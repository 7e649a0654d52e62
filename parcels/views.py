"""The parcel endpoints: look-up by number, and search."""

import re
from collections.abc import Iterable

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.viewsets import GenericViewSet

from parcels import queries
from parcels.models import Parcel
from shops.api.authentication import ForbiddingBearerAuthentication
from shops.api.errors.exceptions import ApiError, ErrorEntry
from shops.api.errors.plain import PARCEL_NOT_FOUND, SEARCH_WITHOUT_FILTER

FILTERS = ("orderName", "email")
PARAMETER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
MAX_NAMED = 3
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
            raise ApiError(without_filter(request.query_params))
        return answer(found)


def without_filter(parameters: Iterable[str]) -> ErrorEntry:
    """Name the parameters that a search does not have, where they are names at all."""
    unknown = [name for name in parameters if name not in FILTERS and PARAMETER_NAME.fullmatch(name)][:MAX_NAMED]
    if not unknown:
        return SEARCH_WITHOUT_FILTER
    return SEARCH_WITHOUT_FILTER.saying(f"{SEARCH_WITHOUT_FILTER.message} A search has no {' and no '.join(unknown)}.")


def answer(body: bytes) -> HttpResponse:
    """Answer JSON as the database gave it. DRF's Response would render it later, which costs 5 % of a look-up."""
    return HttpResponse(body, content_type="application/json")
