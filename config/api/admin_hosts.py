"""Which paths are served under which of the service's host names (ADMIN_HOSTS)."""

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

from shops.api.paths import FILES

ADMIN = "/admin/"
# Under every name: staff open PDFs too, and probes use none.
EVERYWHERE = (FILES, settings.STATIC_URL, *settings.HEALTH_PATHS)


def is_served(request: HttpRequest) -> bool:
    """Tell whether the path is served under the request's host name; raise DisallowedHost."""
    if not settings.ADMIN_HOSTS or request.path_info.startswith(EVERYWHERE):
        return True
    is_admin_path = f"{request.path_info}/".startswith(ADMIN)
    return is_admin_path == validate_host(split_domain_port(request.get_host())[0], settings.ADMIN_HOSTS)
