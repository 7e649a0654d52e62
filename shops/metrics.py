"""The rate limit's metrics."""

from prometheus_client import Counter

REFUSALS = Counter(
    "rate_limit_refusals_total", "Requests refused with 429, by whether the shop or the address was counted.", ["group"]
)
STAND_IN = Counter(
    "rate_limit_stand_in_total",
    "Requests counted by one process alone, without the counter store.",
    ["group"],
)
FAILURES = Counter("rate_limit_failures_total", "Times the counter was asked and did not answer.", ["group"])
