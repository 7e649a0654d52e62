"""The service's settings for drills, which read from the environment what is constant in production."""

from config.settings import *  # noqa: F403 - all of them
from config.settings import LEASE_MARGIN_S, RECONCILE_WAIT_S, SERVE_THREADS, TRACKING_CONCURRENCY, WEBHOOK_PACE, env

LEASE_MARGIN_S = env.float("LEASE_MARGIN", LEASE_MARGIN_S)
RECONCILE_WAIT_S = env.float("RECONCILE_WAIT", RECONCILE_WAIT_S)
TRACKING_CONCURRENCY = env.int("TRACKING_CONCURRENCY", TRACKING_CONCURRENCY)
WEBHOOK_PACE = env.float("WEBHOOK_PACE", WEBHOOK_PACE)
SERVE_THREADS = env.int("SERVE_THREADS", SERVE_THREADS)
