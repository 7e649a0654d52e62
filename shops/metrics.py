"""The rate limit's metrics."""

from prometheus_client import Counter

REFUSALS = Counter(
    "rate_limit_refusals_total", "Requests refused with 429, by whether the shop or the address was counted.", ["group"]
)
LET_THROUGH = Counter(
    "rate_limit_let_through_total", "Requests let through uncounted, because the counter did not answer.", ["group"]
)
FAILURES = Counter("rate_limit_failures_total", "Times the counter was asked and did not answer.", ["group"])
