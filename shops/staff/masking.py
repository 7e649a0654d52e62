"""Customers' personal data, which only some members of staff may see."""

from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn, TypeVar

from django.contrib.admin.views.main import ChangeList
from django.db.models import Model
from django.http import HttpRequest

from shops.personal_data import Part
from shops.staff.unfold_classes import ModelAdmin as UnfoldAdmin

PERMISSION = "shops.view_personal_data"
Row = TypeVar("Row", bound=Model)


def may_see(request: HttpRequest) -> bool:
    return request.user.has_perm(PERMISSION)


def conceal(row: Any, columns: Mapping[str, Part]) -> Any:
    """Mask these columns of a row, which can't be saved any more; one that is not loaded stays away."""
    for name, part in columns.items():
        row.__dict__[name] = part.masked(row.__dict__.get(name), row.__dict__)
    row.save = refuse_saving
    return row


def refuse_saving(*args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError("a row with masked columns must not be saved")


class ConcealingAdmin(UnfoldAdmin[Row]):
    """Masks personal columns of a model's rows, on their pages and lists, from those who may not see them."""

    personal: ClassVar[Mapping[str, Part]] = {}

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        row = super().get_object(request, *args, **kwargs)
        return self.shown_alone(request, row) if row else None

    def get_sortable_by(self, request: HttpRequest) -> list[Any]:
        """Leave masked columns out, whose order would tell of what they hold."""
        hidden = {} if may_see(request) else self.personal
        return [column for column in super().get_sortable_by(request) if column not in hidden]

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        listed = super().get_changelist_instance(request)
        if self.personal and not may_see(request):
            listed.result_list = [self.shown(request, row) for row in listed.result_list]
        return listed

    def shown_alone(self, request: HttpRequest, row: Any) -> Any:
        """Return a row as this user may see it on pages of its own."""
        return self.shown(request, row)

    def shown(self, request: HttpRequest, row: Any) -> Any:
        return conceal(row, self.personal) if self.personal and not may_see(request) else row
