"""Who comes in by the sign-on: the account of a `sub`, a new one, or one that its owner links."""

import logging
from http import HTTPStatus
from typing import Any

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base.constants import AuthError
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext

from config.login import factors
from config.login.audit_trail import record_for
from config.login.oidc.issuer import IssuerError, IssuerSession
from config.login.refused import LoginRefusedError
from config.login.sessions import end_sessions
from shops.db.locks import lock
from shops.staff.audit.changes import CHANGED
from shops.staff.audit.models import Action

logger = logging.getLogger("service.login")


class SignOnRefusedError(LoginRefusedError):
    """A sign-on that is refused: of which account, if that is known, and why."""

    def __init__(self, user: User | None, reason: str, text: str) -> None:
        super().__init__(HTTPStatus.FORBIDDEN, gettext("Not logged in"), text)
        self.user, self.reason = user, reason

    def record(self) -> None:
        record_for(self.user, Action.SIGN_IN_FAILED, reason=f"sign-on: {self.reason}")


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Answers what allauth asks of the service about a sign-on."""

    def get_requests_session(self) -> IssuerSession:
        return IssuerSession()

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: Any = None,
    ) -> None:
        """Refuse what the issuer did not answer, or not so that it may be trusted."""
        text = gettext("The sign-on did not answer, or not as it should. Try again, or tell whoever runs the service.")
        refusal = SignOnRefusedError(None, "not valid", text)
        if error == AuthError.CANCELLED:
            refusal = SignOnRefusedError(None, "cancelled", gettext("It was given up on the sign-on's own page."))
        else:
            # Our own text of a token, else the kind alone, as others' texts may name anything.
            reason = str(exception) if isinstance(exception, IssuerError) else type(exception).__name__
            logger.warning("sign-on failed", extra={"reason": reason})
        refusal.record()
        raise refusal

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Give the login an account with today's roles; raise LoginRefusedError."""
        user = sociallogin.user if sociallogin.is_existing else None
        try:
            check(user, sociallogin)
            with transaction.atomic():
                if user is None:
                    user = linked(request, sociallogin) if is_link(sociallogin) else made(request, sociallogin)
                follow(user, roles_of(sociallogin.claims))
        except SignOnRefusedError as refusal:
            refusal.record()
            raise


def is_link(login: SocialLogin) -> bool:
    return bool(login.state.get("link"))


def roles_of(claims: dict[str, Any]) -> list[str]:
    groups = claims.get(settings.OIDC_GROUPS_CLAIM)
    names = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
    return sorted({role for group, role in settings.OIDC_ROLES.items() if group in names})


def check(user: User | None, login: SocialLogin) -> None:
    """Refuse whom nobody gives a role, and accounts that are off. Who had roles loses them, and all sessions."""
    if user and is_link(login) and user.pk != login.state["link"]:
        raise SignOnRefusedError(user, "linked", gettext("You have another account here, which is linked already."))
    if user and not (user.is_active and user.is_staff):
        raise SignOnRefusedError(user, "deactivated", gettext("Your account here is deactivated."))
    if roles_of(login.claims):
        return
    if user:
        follow(user, [])
        end_sessions(user)
    text = gettext("None of your groups has a role here. Ask whoever keeps your organisation's groups, then try again.")
    raise SignOnRefusedError(user, "no role", text)


def made(request: HttpRequest, login: SocialLogin) -> User:
    """Make the account of somebody new; a name or an e-mail that an account has is never taken over.

    Return the one that another sign-on of the same person, as from a second tab, has made meanwhile.
    """
    lock("first sign-ons")
    login.lookup()
    user: User = login.user
    if login.is_existing:
        return user
    claims = login.claims
    name, email = name_in(claims), kept("email", claims.get("email")) if claims.get("email_verified") is True else ""
    if User.objects.filter(Q(username__iexact=name) | Q(email__iexact=email) & ~Q(email="")).exists():
        text = gettext(
            "An account here has your name or e-mail. Log in with its password; link it under “Second factor”."
        )
        raise SignOnRefusedError(None, "name or e-mail taken", text)
    names = {field: kept(field, getattr(login.user, field)) for field in ("first_name", "last_name")}
    login.user = user = User.objects.create_user(name, email, is_staff=True, **names)
    login.save(request, connect=True)
    record_for(user, Action.ADDED, note="Made at the first sign-on.")
    return user


def name_in(claims: dict[str, Any]) -> str:
    """Return the first claim that may be a user's name."""
    for claim in ("preferred_username", "sub"):
        if name := kept("username", claims.get(claim)):
            return name
    raise SignOnRefusedError(None, "no name", gettext("The sign-on gives you no name that an account may have."))


def kept(field: str, claim: Any) -> str:
    """Return what an account keeps of a claim in a field: nothing of what the field can't have."""
    try:
        text = claim if isinstance(claim, str) and claim.isprintable() else None  # PostgreSQL takes no NUL
        return str(User._meta.get_field(field).clean(text, None))  # type: ignore[union-attr]  # a column
    except ValidationError:
        return ""


def linked(request: HttpRequest, login: SocialLogin) -> User:
    """Link the account that is logged in, whose password and second factors go."""
    user = request.user
    if not isinstance(user, User) or user.pk != login.state["link"]:
        raise SignOnRefusedError(None, "link", gettext("You are no longer logged in to the account to be linked."))
    user.set_unusable_password()
    login.user = user
    login.save(request, connect=True)
    record_for(user, Action.CHANGED, changes={"password": [CHANGED, None]}, note="Linked to the sign-on.")
    factors.reset(user)
    return user


def follow(user: User, roles: list[str]) -> None:
    """Give an account these roles and no others."""
    before = sorted(user.groups.values_list("name", flat=True))
    if before != roles:
        user.groups.set(Group.objects.filter(name__in=roles))
        record_for(user, Action.CHANGED, changes={"groups": [before, roles]}, note="As the sign-on's groups say.")
