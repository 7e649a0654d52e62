"""Passwords that their owners set: a link that opens once, made by a colleague, leads to the form."""

from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import PasswordResetConfirmView
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse, reverse_lazy
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from shops.staff.audit.changes import CHANGED
from shops.staff.audit.models import Action, AuditEntry
from shops.staff.audit.recording import record

LINK_GIVEN = "A link to set the password was given."


def link_for(request: HttpRequest, user: User) -> str:
    """Make the address at which a user sets his password: once, and within PASSWORD_RESET_TIMEOUT."""
    user_id = urlsafe_base64_encode(force_bytes(user.pk))
    path = reverse("account_set_password", args=[user_id, default_token_generator.make_token(user)])
    record(Action.CHANGED, user, note=LINK_GIVEN)
    return request.build_absolute_uri(path)


def lock(user: User) -> None:
    """Lock an account until the transaction ends: nobody gives its link and chooses its roles at once."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)


def is_made_by(user: User, maker: str) -> bool:
    """Return whether somebody made an account, or chose what it may do."""
    entries = AuditEntry.about(user).filter(actor=maker)
    chose = Q(changes__icontains='"groups"') | Q(changes__icontains='"user_permissions"')
    return entries.filter(Q(action=Action.ADDED) | Q(action=Action.CHANGED) & chose).exists()


def has_link_of(user: User, giver: str) -> bool:
    """Return whether somebody was given the account's link, and may be the one who opened it."""
    return AuditEntry.about(user).filter(actor=giver, details__icontains=LINK_GIVEN).exists()


class SetPassword(PasswordResetConfirmView):
    """The form to set one's password; all sessions end with the old one."""

    template_name = "staff/set_password.html"
    success_url = reverse_lazy("account_login")

    def get_user(self, uidb64: str) -> Any:
        user = super().get_user(uidb64)
        return user if user is not None and user.is_active and user.is_staff else None

    def form_valid(self, form: Any) -> HttpResponse:
        record(Action.CHANGED, form.user, changes={"password": [None, CHANGED]}, note="Set by the link.")
        return super().form_valid(form)
