"""The issuer of the sign-on: what is asked of it, and the check of its ID tokens."""

from typing import Any, Final
from urllib.parse import urlsplit

import jwt
import requests
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from allauth.utils import build_absolute_uri
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

TIMEOUT_S: Final = (3.0, 5.0)  # to connect, and between two pieces of an answer
ALGORITHMS: Final = [f"{family}{bits}" for family in ("RS", "PS", "ES") for bits in (256, 384, 512)]
LEEWAY_S: Final = 30  # clocks differ
REQUIRED: Final = ["iss", "sub", "aud", "exp", "iat", "nonce"]
MAX_SUB_LENGTH: Final = SocialAccount._meta.get_field("uid").max_length
ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class IssuerError(OAuth2Error):
    """An answer of the issuer that is not to be trusted; its text has nothing of the answer."""


class IssuerSession(requests.Session):
    """Asks the issuer only: within a timeout, over https if its own address is, and following no redirect."""

    def request(self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any) -> requests.Response:
        if urlsplit(str(url)).scheme != urlsplit(settings.OIDC_ISSUER).scheme:
            raise requests.exceptions.InvalidSchema("an endpoint is less safe than the issuer")
        return super().request(method, url, *args, **kwargs | {"timeout": TIMEOUT_S, "allow_redirects": False})


class SignOn(OpenIDConnectOAuth2Adapter):
    """One sign-on, from the redirect to the issuer to the claims of an ID token."""

    nonce = ""  # that the token has to bring

    def get_provider(self) -> "Provider":
        return Provider(self.request)

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return str(build_absolute_uri(request, reverse("sign_on_back")))

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return what the issuer says of itself; raise IssuerError if it is another one."""
        config: dict[str, Any] = super().openid_config
        if config.get("issuer") != settings.OIDC_ISSUER or not all(config.get(name) for name in ENDPOINTS):
            raise IssuerError("the configuration is not the issuer's")
        config.setdefault("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return config

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        """Return the login with its claims, of which nothing is kept but issuer and `sub`."""
        claims = self.checked(kwargs["response"].get("id_token") or "")
        if settings.OIDC_GROUPS_CLAIM not in claims and self.openid_config.get("userinfo_endpoint"):
            further = self._fetch_user_info(token.token)
            if further.get("sub") != claims["sub"]:
                raise IssuerError("the user's information is somebody else's")
            claims = further | claims
        login = self.get_provider().sociallogin_from_response(request, {"id_token": claims})
        login.account.extra_data, login.email_addresses, login.claims = {}, [], claims
        return login

    def checked(self, id_token: str) -> dict[str, Any]:
        """Return an ID token's claims: signed by the issuer's key, for us, of this very sign-on; raise IssuerError."""
        with IssuerSession() as session:
            keys = session.get(self.openid_config["jwks_uri"]).json()
        try:
            key_id = jwt.get_unverified_header(id_token).get("kid")
            key = next(key for key in jwt.PyJWKSet.from_dict(keys).keys if key_id in {None, key.key_id})
            whose: Any = {"issuer": settings.OIDC_ISSUER, "audience": settings.OIDC_CLIENT_ID, "leeway": LEEWAY_S}
            claims = jwt.decode(id_token, key, algorithms=ALGORITHMS, options={"require": REQUIRED}, **whose)
        except (jwt.PyJWTError, StopIteration, AttributeError, TypeError, ValueError) as error:
            raise IssuerError("the ID token is not valid") from error
        if claims.get("azp", settings.OIDC_CLIENT_ID) != settings.OIDC_CLIENT_ID:
            raise IssuerError("the ID token is another client's")
        if not self.nonce or claims["nonce"] != self.nonce:
            raise IssuerError("the ID token is of another sign-on")
        if len(claims["sub"]) > MAX_SUB_LENGTH or not claims["sub"].isprintable():
            raise IssuerError("the `sub` can't be kept")
        return claims


class Provider(OpenIDConnectProvider):
    """The issuer of the settings. A link is known by issuer and `sub`, so another issuer's `sub` is another person."""

    oauth2_adapter_class = SignOn

    def __init__(self, request: HttpRequest) -> None:
        described_at = f"{settings.OIDC_ISSUER.rstrip('/')}/.well-known/openid-configuration"
        options = {"scope": settings.OIDC_SCOPES, "oauth_pkce_enabled": True, "server_url": described_at}
        app = SocialApp(provider=self.id, provider_id=settings.OIDC_ISSUER, name="", settings=options)
        app.client_id, app.secret = settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET
        super().__init__(request, app=app)
