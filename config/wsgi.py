"""The WSGI application."""

import gc
import logging
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

django.setup(set_prefix=False)

from config.api.fast_path import FastPath  # noqa: E402 - after the set-up
from config.apps import first_look_defaults  # noqa: E402 - as above
from config.postgresql.base import DatabaseWrapper  # noqa: E402 - as above
from shops.api.traffic import traffic  # noqa: E402 - as above

application = FastPath()
DatabaseWrapper.is_serving = True  # requests wait for the database with a timeout

for message in first_look_defaults(None):
    logging.getLogger("service.start").warning(message.msg)
traffic.start()
# Loaded code is left out of garbage collection, which is done less often: a search for 50 parcels makes thousands of
# objects, none of them in a cycle. With Python's defaults the collector takes a quarter of its CPU time, and a tenth of
# a look-up's. It would also write to the memory that workers share.
gc.collect()
gc.freeze()
gc.set_threshold(20_000, 20, 50)
