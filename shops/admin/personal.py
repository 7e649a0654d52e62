"""Customers' personal data, which only some members of staff may see."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest

PERMISSION = "shops.view_personal_data"
MASKED = "•••"


def may_see(request: HttpRequest) -> bool:
    return request.user.has_perm(PERMISSION)


def masked(text: str, *, is_shown: bool) -> str:
    """Return the text, or dots in its place; nothing stays nothing."""
    return text if is_shown or not text else MASKED


def dots(value: Any) -> Any:
    """Return dots in place of a value; nothing stays nothing."""
    return MASKED if value else value


def dots_in(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function that masks these members of an object."""
    return lambda value: value | {name: dots(value[name]) for name in names if name in value}


def conceal(row: Any, columns: Mapping[str, Callable[[Any], Any]]) -> Any:
    """Mask these columns of a row, which can't be saved any more; one that is not loaded stays away."""
    for name, mask in columns.items():
        value = row.__dict__.get(name)
        row.__dict__[name] = value and mask(value)
    row.save = refuse_saving
    return row


def refuse_saving(*args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError("a row with masked columns must not be saved")


class Concealed:
    """Masks personal columns of a model's rows, on their pages and lists, from those who may not see them."""

    personal: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}  # by column: the function that masks it

    if not TYPE_CHECKING:  # typed as in the class it is mixed into

        def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            row = super().get_object(request, *args, **kwargs)
            return self.shown(request, row) if row else None

        def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
            listed = super().get_changelist_instance(request)
            if self.personal and not may_see(request):
                listed.result_list = [self.shown(request, row) for row in listed.result_list]
            return listed

    def shown(self, request: HttpRequest, row: Any) -> Any:
        """Return a row as this user may see it."""
        return conceal(row, self.personal) if self.personal and not may_see(request) else row
