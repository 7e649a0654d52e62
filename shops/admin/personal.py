"""Customers' personal data, which only some members of staff may see."""

from django.http import HttpRequest

PERMISSION = "shops.view_personal_data"
MASKED = "•••"


def may_see(request: HttpRequest) -> bool:
    return request.user.has_perm(PERMISSION)


def masked(text: str, *, is_shown: bool) -> str:
    """Return the text, or dots in its place; nothing stays nothing."""
    return text if is_shown or not text else MASKED
