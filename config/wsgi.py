"""The WSGI application."""

import logging
import os

from django.core.wsgi import get_wsgi_application

from config.postgresql.base import DatabaseWrapper

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
DatabaseWrapper.is_serving = True  # a request waits for the database so long and no longer


def warn_of_defaults() -> None:
    from config.apps import first_look_defaults  # noqa: PLC0415 - after the set-up

    for message in first_look_defaults(None):
        logging.getLogger("service.start").warning(message.msg)


warn_of_defaults()
