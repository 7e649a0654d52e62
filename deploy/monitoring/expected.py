"""The table of drills: what each failure does to the metrics, and which alerts fire."""

from deploy.monitoring.drills import (
    HOUR_S,
    Drill,
    after,
    answers,
    bought,
    breaker,
    gone,
    page,
    slow,
    ticket,
    without_database,
)
from deploy.monitoring.traffic import HOSTS

FIRST = "service-1"
REFUSED = "carrier_call_duration_seconds_count"

DRILLS = (
    Drill(
        "a carrier hangs",
        (
            *answers("labels", "POST", "201", "502", (12, 0), (6, 4), (6, 6)),
            bought("alpha", "label_generated", 0),
            bought("alpha", "unknown", 0, 4, 1, 0),
            *breaker("alpha", "shipping", 0, 1, 2),
        ),
        (page("CarrierFails", carrier="alpha", service="shipping"),),
    ),
    Drill(
        "a carrier is down",
        (
            *answers("labels", "POST", "201", "502", (6, 6)),
            bought("beta", "label_generated", 0),
            bought("beta", "failed", 5, 0),
            *breaker("beta", "shipping", 2),
        ),
        (page("CarrierFails", carrier="beta", service="shipping"),),
    ),
    Drill(
        "a carrier's pickup points can't be asked for",
        (*answers("labels", "POST", "201", "502", (10, 2)), *breaker("beta", "pickup points", 2)),
        (page("CarrierFails", carrier="beta", service="pickup points"),),
    ),
    Drill(
        "a carrier cancels nothing",
        tuple(breaker("alpha", "cancellation", 2)),
        (ticket("CarrierServiceFails", carrier="alpha", service="cancellation"),),
    ),
    Drill(
        "a carrier leaves outcomes unknown now and then",
        (*answers("labels", "POST", "201", "502", (10, 2)), bought("alpha", "unknown", 2)),
        (ticket("OutcomesUnknown", carrier="alpha"),),
    ),
    Drill(
        "a carrier refuses the credentials of orders",
        (
            *answers("labels", "POST", "201", "502", (11, 1)),
            after(REFUSED, 0, 1, 0, carrier="beta", outcome="credentials_rejected", instance=FIRST),
        ),
        (ticket("CredentialsRejected", carrier="beta"),),
    ),
    Drill(
        "the storage is away",
        (
            *answers("labels", "POST", "201", "500", (0, 6), (0, 12)),
            *(bought(carrier, "label_generated", 0) for carrier in ("alpha", "beta")),
            *(bought(carrier, "received", 3, 6) for carrier in ("alpha", "beta")),
            after("labels_interrupted", 6, 18, 30, 42, state="received"),
        ),
        (page("StorageAway"),),
    ),
    Drill(
        "Redis is away",
        (after("rate_limit_stand_in_total", 380), *slow(0.1, 0.1)),
        (ticket("RedisAway"),),
    ),
    Drill(
        "Redis is away from a quiet service, where each look-up is the one that waits",
        (after("rate_limit_stand_in_total", 380), *slow(1)),
        (ticket("RedisAway"),),
    ),
    Drill(
        "PostgreSQL is away for three minutes",
        tuple(without_database(steps=6, comes_back=True)),
        tuple(page("DatabaseAway", instance=host, job=job) for host, job in HOSTS.items()),
        until_s=2100,
    ),
    Drill(
        "a failover loses rows",
        (
            *without_database(steps=1, comes_back=True),
            after("label_rows_vanished_total", 0, 2, 0, carrier="alpha", instance=FIRST),
        ),
        (page("RowsVanished", carrier="alpha"),),
    ),
    Drill(
        "a label is bought while PostgreSQL goes away for good",
        (
            *answers("labels", "POST", "201", "502", (11, 1), (12, 0)),
            bought("alpha", "unknown", 0, 0),
            after("labels_unrecorded_total", 0, 1, 0, carrier="alpha", instance=FIRST),
        ),
        (page("LabelNotRecorded", carrier="alpha"),),
    ),
    Drill(
        "a process is killed during purchases, whose leases end after 80 seconds",
        (
            after("labels_interrupted", 0, 0, 3, state="purchasing"),
            after("labels_interrupted_oldest_seconds", 0, 0, 10, 40, instance=FIRST),
        ),
        (ticket("PurchaseInterrupted"),),
    ),
    Drill(
        "a host dies during purchases",
        (*gone("service-2"), after("labels_interrupted", 0, 0, 3, state="purchasing")),
        (page("InstanceDown", instance="service-2", job="parcel-service"),),
    ),
    Drill(
        "`work` dies, and parcels, labels and webhooks wait",
        (
            *gone("work-1"),
            after("webhook_oldest_due_seconds", 20, 50, 80, 110),
            after("tracking_oldest_due_seconds", 3590, 3620, 3650, 3680),
            after("labels_interrupted_oldest_seconds", 890, 920, 950, 980, instance=FIRST),
        ),
        (page("InstanceDown", instance="work-1", job="parcel-work"),),
    ),
    Drill(
        "nobody reconciles though `work` is up",
        (after("labels_interrupted_oldest_seconds", 910, 940, 970, 1000, instance=FIRST),),
        (page("NobodyReconciles"),),
    ),
    Drill(
        "a host's clock is off",
        (after("host_clock_offset_seconds", 30, instance="service-2"),),
        (ticket("HostClockOff", instance="service-2"),),
    ),
    Drill(
        "a tracking service fails",
        (
            *breaker("alpha", "tracking", 2),
            after("tracking_parcels_asked_total", 0, carrier="alpha", outcome="known"),
            after("tracking_parcels_asked_total", 10, 1, carrier="alpha", outcome="unavailable"),
            after("tracking_oldest_due_seconds", 30, 60, 90, 120, carrier="alpha"),
        ),
        (ticket("TrackingFails", carrier="alpha", service="tracking"),),
    ),
    Drill(
        "a tracking service has failed for an hour",
        (
            *breaker("alpha", "tracking", 2),
            after("tracking_oldest_due_seconds", 3610, 3640, 3670, 3700, carrier="alpha"),
        ),
        (ticket("TrackingFails", carrier="alpha", service="tracking"),),
    ),
    Drill(
        "a tracking service refuses a contract's credentials",
        (after("tracking_refused_contracts_total", 1, 0, carrier="beta"),),
        (ticket("CredentialsRejected", carrier="beta"),),
    ),
    Drill(
        "the limit of calls is too low for the parcels",
        (after("tracking_oldest_due_seconds", 3610, 3640, 3670, 3700, carrier="alpha"),),
        (ticket("TrackingLate", slo="tracking-fresh"),),
    ),
    Drill(
        "a carrier has new event codes",
        (after("tracking_unlisted_events_total", 40, 40, 30, 0, carrier="alpha"),),
        (ticket("UnlistedEvents", carrier="alpha"),),
    ),
    Drill(
        "webhooks are not sent",
        (
            after("webhook_oldest_due_seconds", 20, 50, 80, 110),
            after("webhook_attempt_duration_seconds_count", 0),
            after("webhook_deliveries_queued", 60, 80, 100, 120),
        ),
        (page("WebhooksLate", slo="webhooks-delivered"),),
        calm_s=HOUR_S,
    ),
    Drill(
        "no webhook gets out of this network",
        (
            after("webhook_endpoints_failing", 4, 6, 8),
            after("webhook_attempt_duration_seconds_count", 0, outcome="delivered"),
        ),
        (page("WebhooksFail"),),
    ),
    Drill(
        "a shop's endpoint is gone",
        (after("webhook_endpoints_disabled", 1), after("webhook_endpoints_active", 7)),
        (ticket("WebhookEndpointDisabled"),),
    ),
    Drill(
        "the log's reader stands still, and the lines that may wait are full",
        (after("log_lines_dropped_total", 400, reason="no room", instance="service-1"),),
        (ticket("LogHasGaps", instance="service-1"),),
    ),
    Drill(
        "a fault of the fast path, which Django makes good",
        (after("fast_path_failures_total", 30, route="parcel", instance="service-1"),),
        (ticket("FastPathFails", route="parcel"),),
    ),
    Drill(
        "an attack fills the threads and look-ups wait",
        tuple(slow(0.3, 0.5)),
        (page("LookUpsSlow", slo="look-ups-fast"),),
    ),
    Drill(
        "an attack holds the threads that read bodies, and orders get a 503",
        tuple(answers("labels", "POST", "201", "503", (2, 10))),
        (page("OrdersFail", slo="orders-answered"),),
        calm_s=HOUR_S,
    ),
    Drill(
        "a fault of ours fails most look-ups",
        tuple(answers("parcel", "GET", "200", "500", (60, 240))),
        (page("LookUpsFail", slo="look-ups-answered"),),
        calm_s=HOUR_S,
    ),
    Drill(
        "a fault of ours fails one look-up of 500 for hours",
        tuple(answers("parcel", "GET", "200", "500", (299, 1))),
        (ticket("LookUpsFail", slo="look-ups-answered"),),
        after_s=HOUR_S + 600,
    ),
    Drill(
        "a page of the admin has a fault",
        tuple(answers("admin:index", "GET", "200", "500", (10, 0), (8, 2))),
        (ticket("OtherRequestsFail"),),
    ),
    Drill(
        "a label waits for a person",
        (after("labels_to_decide", 1, state="incomplete"),),
        (ticket("LabelsToDecide"),),
        after_s=2 * HOUR_S + 120,
    ),
)  # fmt: skip
