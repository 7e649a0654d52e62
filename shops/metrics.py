"""What the rate limit tells Prometheus."""

from prometheus_client import Counter

REFUSALS = Counter(
    "rate_limit_refusals_total", "Requests refused with 429, by what the limit was counted for.", ["group"]
)
LET_THROUGH = Counter(
    "rate_limit_let_through_total", "Requests let through uncounted, because the counter did not answer.", ["group"]
)
FAILURES = Counter("rate_limit_failures_total", "Times the counter was asked and did not answer.", ["group"])
