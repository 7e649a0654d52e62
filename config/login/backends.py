"""Authenticates staff by password."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.http import HttpRequest

from config.login.limits import count_user_name


class StaffBackend(ModelBackend):
    """Django's backend for members of staff only; it counts every attempt of a name first.

    An unknown name costs a hash as well, so that neither the answer nor its time tells the names that exist.
    """

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:  # type: ignore[override]  # by keyword
        if request is not None and "username" in credentials:
            count_user_name(credentials["username"])
        return super().authenticate(request, **credentials)

    def user_can_authenticate(self, user: Any) -> bool:
        return user is not None and user.is_staff and super().user_can_authenticate(user)
