"""The dashboards: one for whoever runs the service, one about the carriers, one about a single shop."""

from deploy.monitoring.boards import LOKI, Board, Panel
from deploy.monitoring.causes import SERVICE
from deploy.monitoring.objectives import COUNT, OBJECTIVES, TIMED

BUCKETS = "http_request_duration_seconds_bucket"
CALLS = "carrier_call_duration_seconds"
REFUSED = f'{CALLS}_count{{outcome="credentials_rejected"}}'
# The access log: metrics have no shop, as each shop would multiply their series.
REQUESTS = f'{{job="{SERVICE}"}} | json | logger="service.request" | shop="$shop"'
OURS = 'status=~"5..",status!="502"'


def share(name: str, title: str, window: str = "1h") -> Panel:
    """The good share of an objective, red below it."""
    good = f'1 - slo:errors:ratio{window}{{slo="{name}"}}'
    return Panel(f"{title}, {window}", {title: good}, "percentunit", OBJECTIVES[name].share, is_share=True)


def rate(metric: str, by: str, selector: str = "") -> str:
    return f"sum by ({by}) (rate({metric}{{{selector}}}[$__rate_interval]))"


def quantile(q: float, metric: str, selector: str = "", by: str = "le") -> str:
    return f"histogram_quantile({q}, {rate(metric, by, selector)})"


def counted(by: str, condition: str = "") -> str:
    return f"sum by ({by}) (count_over_time({REQUESTS}{condition} [$__interval]))"


SERVICE_BOARD = Board(
    "parcel-service",
    "Parcel service",
    "For whoever runs it: are the objectives kept, and which dependency fails?",
    {
        "Objectives": [
            share("look-ups-answered", "Look-ups answered"),
            share("look-ups-fast", "Look-ups below 50 ms", "30m"),
            share("orders-answered", "Orders answered"),
            share("tracking-fresh", "Tracking fresh"),
            share("webhooks-delivered", "Webhooks delivered"),
            Panel(
                "Labels not recorded, rows vanished, 24 h",
                {
                    "not recorded": "sum(increase(labels_unrecorded_total[1d]))",
                    "vanished": "sum(increase(label_rows_vanished_total[1d]))",
                },
                limit=0.5,
            ),
        ],
        "Requests": [
            Panel("Requests by route", {"{{route}}": rate(COUNT, "route")}, "reqps"),
            Panel("Requests by status", {"{{status}}": rate(COUNT, "status")}, "reqps"),
            Panel(
                "Look-ups: p50, p99",
                {"p50": quantile(0.5, BUCKETS, TIMED), "p99": quantile(0.99, BUCKETS, TIMED)},
                "s",
            ),
            Panel(
                "Errors of ours, by route",
                {"{{route}} {{status}}": rate(COUNT, "route, status", OURS)},
                "reqps",
            ),
        ],
        "Labels": [
            Panel("Purchases by state", {"{{state}}": rate("label_purchases_total", "state")}, "ops"),
            Panel("Labels to decide", {"{{state}}": "max by (state) (labels_to_decide)"}),
            Panel("Interrupted purchases", {"{{state}}": "max by (state) (labels_interrupted)"}),
        ],
        "Webhooks": [
            Panel(
                "Attempts by outcome", {"{{outcome}}": rate("webhook_attempt_duration_seconds_count", "outcome")}, "ops"
            ),
            Panel(
                "Age of what waits",
                {
                    "due, not sent": "max(webhook_oldest_due_seconds)",
                    "oldest, with retries": "max(webhook_deliveries_oldest_seconds)",
                },
                "s",
            ),
            Panel(
                "Endpoints",
                {
                    "active": "max(webhook_endpoints_active)",
                    "failing": "max(webhook_endpoints_failing)",
                    "disabled": "max(webhook_endpoints_disabled)",
                },
            ),
            Panel("Deliveries queued", {"queued": "max(webhook_deliveries_queued)"}),
        ],
        "Dependencies": [
            Panel("Instances up", {"{{job}}": f'sum by (job) (up{{job=~"{SERVICE}|parcel-work"}})'}),
            Panel("Instances without the database", {"{{instance}}": "count by (instance) (cause:database_away)"}),
            Panel("Requests counted without Redis", {"{{group}}": rate("rate_limit_stand_in_total", "group")}, "reqps"),
            Panel(
                "Labels bought, not stored",
                {"{{carrier}}": rate("label_purchases_total", "carrier", 'state="received"')},
                "ops",
            ),
            Panel("Clocks", {"{{instance}}": "max by (instance) (host_clock_offset_seconds)"}, "s"),
            Panel("Log lines lost", {"{{instance}}": rate("log_lines_dropped_total", "instance")}, "ops"),
        ],
    },
)

CARRIERS_BOARD = Board(
    "parcel-carriers",
    "Carriers",
    "For whoever talks to the carriers: do they answer, how fast, and with what?",
    {
        "Calls": [
            Panel("Calls by outcome", {"{{carrier}} {{outcome}}": rate(f"{CALLS}_count", "carrier, outcome")}, "reqps"),
            Panel(
                "Calls that failed",
                {
                    "{{carrier}}": rate(f"{CALLS}_count", "carrier", 'outcome=~"unavailable|outcome_unknown"')
                    + " / "
                    + rate(f"{CALLS}_count", "carrier")
                },
                "percentunit",
            ),
            Panel(
                "Duration: p95",
                {"{{carrier}} {{operation}}": quantile(0.95, f"{CALLS}_bucket", by="le, carrier, operation")},
                "s",
            ),
        ],
        "Circuit breakers and credentials": [
            Panel(
                "Processes whose circuit breaker is not closed",
                {
                    "{{carrier}} {{service}} {{state}}": (
                        'sum by (carrier, service, state) (carrier_circuit_breaker{state!="closed"})'
                    )
                },
            ),
            Panel(
                "Credentials refused, in an hour",
                {
                    "{{carrier}} orders": f"sum by (carrier) (increase({REFUSED}[1h]))",
                    "{{carrier}} tracking": "sum by (carrier) (increase(tracking_refused_contracts_total[1h]))",
                },
            ),
        ],
        "Orders": [
            Panel(
                "Purchases by state",
                {"{{carrier}} {{state}}": rate("label_purchases_total", "carrier, state")},
                "ops",
            ),
            Panel(
                "Outcomes unknown or incomplete, in an hour",
                {"{{carrier}}": 'sum by (carrier) (increase(label_purchases_total{state=~"unknown|incomplete"}[1h]))'},
            ),
        ],
        "Tracking": [
            Panel(
                "Parcels asked about, by outcome",
                {"{{carrier}} {{outcome}}": rate("tracking_parcels_asked_total", "carrier, outcome")},
                "ops",
            ),
            Panel("Oldest question due", {"{{carrier}}": "max by (carrier) (tracking_oldest_due_seconds)"}, "s"),
            Panel(
                "New events by status",
                {"{{carrier}} {{status}}": rate("tracking_events_total", "carrier, status")},
                "ops",
            ),
            Panel(
                "Unlisted events, in a day",
                {"{{carrier}}": "sum by (carrier) (increase(tracking_unlisted_events_total[1d]))"},
            ),
        ],
    },
)

SHOP_BOARD = Board(
    "parcel-shop",
    "One shop",
    "For whoever answers a shop: what did it ask, what was it answered, how fast? From the access log, through Loki.",
    {
        "Requests": [
            Panel("Requests by route", {"{{route}}": counted("route")}),
            Panel("Answers by status", {"{{status}}": counted("status")}),
            Panel(
                "Duration: p95 by route",
                {"{{route}}": f"quantile_over_time(0.95, {REQUESTS} | unwrap duration_ms [$__interval]) by (route)"},
                "ms",
            ),
        ],
        "Orders and refusals": [
            Panel("Orders by status", {"{{status}}": counted("status", ' | route="labels"')}),
            Panel("Refused: over the limit", {"{{route}}": counted("route", " | status=429")}),
            Panel("Errors", {"{{route}} {{status}}": counted("route, status", " | status>=500")}),
        ],
    },
    source=LOKI,
    variable=("shop", "Shop's id (shop_...)"),
)

BOARDS = {"service": SERVICE_BOARD, "carriers": CARRIERS_BOARD, "shop": SHOP_BOARD}
