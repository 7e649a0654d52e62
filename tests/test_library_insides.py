"""Insides of libraries that the service replaces: an upgrade that no longer uses them would go unnoticed elsewhere."""

import http.client
import inspect
import logging
from typing import Any

import pytest
import redis
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.db.backends.postgresql.schema import DatabaseSchemaEditor
from django_ratelimit import core
from granian import _signals
from granian.server import mp
from redis.connection import AbstractConnection
from urllib3.connection import HTTPConnection, HTTPSConnection

REPLACED: list[tuple[str, Any]] = [
    ("_wsgi_call_wrap", mp.MPServer._spawn_wsgi_worker),
    ("set_main_signals", _signals.set_sync_signals),
    ("_new_conn", HTTPConnection.connect),
    ("_new_conn", HTTPSConnection.connect),
    ("_read_status", http.client.HTTPResponse.begin),
    ("_connect", AbstractConnection.connect_check_health),
    ("_connect", redis.SSLConnection._connect),
    ("_wrap_socket_with_ssl", redis.SSLConnection._connect),
    ("_create_like_index_sql", DatabaseSchemaEditor._field_indexes_sql),  # type: ignore[attr-defined]  # the types leave it out
    ("_get_state", OAuth2CallbackView.dispatch),
    ("_srcfile", logging.Logger._log),
    ("_get_window", core.get_usage),
    ("_make_cache_key", core.get_usage),
]


@pytest.mark.parametrize(("name", "user"), REPLACED)
def test_a_library_uses_what_the_service_replaces(name: str, user: Any) -> None:
    assert name in inspect.unwrap(user).__code__.co_names
