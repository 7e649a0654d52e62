"""The way to the issuer and back."""

import secrets
from typing import Any, cast

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from requests import RequestException

from config.login.oidc.issuer import Provider


@reauthentication_required  # type: ignore[untyped-decorator]  # allauth's
def link(request: HttpRequest) -> HttpResponse:
    """Lead to the issuer, to link the account that is logged in."""
    return log_in(request, link=request.user.pk)


def log_in(request: HttpRequest, **state: Any) -> HttpResponse:
    if not settings.OIDC_ISSUER:
        raise Http404
    provider, nonce = Provider(request), secrets.token_urlsafe(32)
    state |= {"nonce": nonce, "auth_params": {"nonce": nonce}, "next_url": get_next_redirect_url(request)}
    try:
        answer: HttpResponse = provider.redirect(request, AuthProcess.LOGIN, **state)
    except (OAuth2Error, RequestException) as error:
        get_adapter().on_authentication_error(request, provider, exception=error)
        raise
    return answer


class CallbackView(OAuth2CallbackView):
    """Takes who comes back from the issuer."""

    def _get_state(self, request: HttpRequest, provider: Provider) -> Any:
        """Find what was noted before; the token has to bring its nonce."""
        state, answer = super()._get_state(request, provider)
        self.adapter.nonce = (state or {}).get("nonce", "")
        return state, answer


def back(request: HttpRequest) -> HttpResponse:
    if not settings.OIDC_ISSUER:
        raise Http404
    sign_on = Provider(request).get_oauth2_adapter(request)
    return cast("HttpResponse", CallbackView.adapter_view(sign_on)(request))
