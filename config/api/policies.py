"""Policies of pages and requests: the admin's content security policy, and the hosts that paths are answered under."""

import re
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

from shops.api.paths import FILES

ADMIN = "/admin/"
# Under every name: staff open PDFs too, and probes use none.
EVERYWHERE = (FILES, settings.STATIC_URL, *settings.HEALTH_PATHS)
PICTURES = " ".join(["'self'", "data:", *(f"https://{host}" for host in settings.ADMIN_PICTURE_HOSTS)])
# A browser asks this of a redirect as well, which leads from the log-in to the issuer of the sign-on.
FORMS = " ".join(["'self'", *re.findall(r"^https?://[^/]+", settings.OIDC_ISSUER)])
# Alpine, which the admin's pages are written with, makes functions of its attributes (unsafe-eval); pages have style
# attributes. No script of a page itself is run.
ADMIN_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
    f"img-src {PICTURES}; connect-src 'self'; form-action {FORMS}; base-uri 'none'; frame-ancestors 'none'"
)
KNOWN_PORTS = {"80", "443", str(urlsplit(settings.PUBLIC_BASE_URL).port or "")}


def is_served(request: HttpRequest) -> bool:
    """Return whether the path is served under the request's host name; raise DisallowedHost."""
    if not settings.ADMIN_HOSTS or request.path_info.startswith(EVERYWHERE):
        return True
    is_admin_path = f"{request.path_info}/".startswith(ADMIN)
    return is_admin_path == validate_host(split_domain_port(request.get_host())[0], settings.ADMIN_HOSTS)


def check_host(request: HttpRequest) -> None:
    """Raise DisallowedHost for a `Host` that is not the service's: links and redirects would lead to it.

    A port has to be http's or https's, that of PUBLIC_BASE_URL, or the one that the request reached.
    """
    _, colon, port = request.get_host().rpartition(":")
    is_port = colon and port.isdecimal()  # otherwise the end of an IPv6 address
    if is_port and port not in KNOWN_PORTS and port != request.META["SERVER_PORT"]:
        raise DisallowedHost
