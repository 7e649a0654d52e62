"""Bearer authentication: the token identifies the shop."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from threading import Lock
from typing import Any

from cachetools import LRUCache, TTLCache, cached
from django.db import DatabaseError
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from shops import tokens
from shops.api.errors.exceptions import UnauthenticatedError
from shops.api.errors.plain import TOKEN_INVALID, TOKEN_MISSING
from shops.api.throttling import count_refusal
from shops.db import replicas
from shops.db.failures import is_timeout
from shops.models import AccessToken, Shop

REALM = "parcel-service"
# A valid token is cached this long, so a revocation takes effect within it.
TOKEN_CACHE_TTL_S = 2
# Tokens that were valid in this process: the fast path asks about no others, and their orders wait for the database.
known_digests: LRUCache[str, bool] = LRUCache(maxsize=10_000)
known_lock = Lock()
logger = logging.getLogger("shops.api.authentication")


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer <token>``; a request without a valid one is refused with 401."""

    # True if a replica may authenticate a token while the primary is unreachable; never where something is bought.
    is_replica_enough = False

    def authenticate(self, request: Request) -> tuple[Shop, AccessToken]:
        secret = sent_token(request.META)
        token = None if secret is None else valid_token(secret, is_replica_enough=self.is_replica_enough)
        if token is None:
            count_refusal(request)
            raise UnauthenticatedError(TOKEN_MISSING if secret is None else TOKEN_INVALID)
        request._request.shop_id = token.shop_id  # type: ignore[attr-defined]  # for the log line
        return token.shop, token

    def authenticate_header(self, request: Request) -> str | None:
        challenge = f'Bearer realm="{REALM}"'
        return challenge if sent_token(request.META) is None else f'{challenge}, error="invalid_token"'


class ForbiddingBearerAuthentication(BearerAuthentication):
    """Answers 403 in place of 401, as the API promises for reading parcels: DRF does so when there is no challenge."""

    is_replica_enough = True

    def authenticate_header(self, request: Request) -> str | None:
        return None


def sent_token(environ: Mapping[str, Any]) -> str | None:
    """Return the bearer token that was sent, well-formed or not, empty if it is not ASCII; None if there is none."""
    header = environ.get("HTTP_AUTHORIZATION")
    if header == "":
        return ""
    scheme, _, token = (header or "").strip().partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def valid_token(secret: str, *, is_replica_enough: bool) -> AccessToken | None:
    """Find a token that is valid now; raise DatabaseError or InterfaceError if no database can tell."""
    try:
        token = find(secret)
    except AccessToken.DoesNotExist:
        return None
    except replicas.UNREACHABLE:
        if not is_replica_enough or not replicas.is_configured():
            raise
        return valid_replicated_token(secret)
    return token if token.is_valid else None


def valid_replicated_token(secret: str) -> AccessToken | None:
    """Find a valid token on a replica, which may lag behind in creations and revocations."""
    token = find_replicated(secret)
    return token if token and token.is_valid else None


@cached(TTLCache(maxsize=10_000, ttl=TOKEN_CACHE_TTL_S), lock=Lock(), key=tokens.digest)
def find(secret: str) -> AccessToken:
    """Find a token with its shop, an invented one without a query; record its use. Raise AccessToken.DoesNotExist."""
    if not tokens.is_well_formed(secret):
        raise AccessToken.DoesNotExist
    with replicas.shorter_primary_timeout():
        token = AccessToken.objects.select_related("shop").get(digest=tokens.digest(secret))
        if token.is_valid:
            try:
                AccessToken.objects.record_use(token)
            except DatabaseError as error:  # which does not fail the request
                logger.warning("last use not recorded", extra={"token": token.id}, exc_info=not is_timeout(error))
            with known_lock:
                known_digests[token.digest] = True
    return token


def is_known(secret: str) -> bool:
    with known_lock:
        return tokens.digest(secret) in known_digests


def may_be_valid(secret: str) -> bool:
    """Return whether a token was valid here before, or is on a replica: it may wait while the primary is away."""
    if is_known(secret):
        return True
    with suppress(*replicas.UNREACHABLE):
        return replicas.is_configured() and valid_replicated_token(secret) is not None
    return False


@cached(TTLCache(maxsize=10_000, ttl=TOKEN_CACHE_TTL_S), lock=Lock(), key=tokens.digest)
def find_replicated(secret: str) -> AccessToken | None:
    found = AccessToken.objects.using(replicas.REPLICA).select_related("shop")
    return found.filter(digest=tokens.digest(secret)).first()
