"""Authenticates staff by password."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.http import HttpRequest

from config.login.limits import count_user_name


class StaffBackend(ModelBackend):
    """Django's backend for staff only; each attempt counts first, and costs a hash, so that no name is told."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:  # type: ignore[override]  # by keyword
        if request is not None and "username" in credentials:
            count_user_name(credentials["username"])
        return super().authenticate(request, **credentials)

    def user_can_authenticate(self, user: Any) -> bool:
        return user is not None and user.is_staff and super().user_can_authenticate(user)
