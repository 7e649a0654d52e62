"""The table of alerts: each with its expression, its words and the section of the runbook to go to."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from deploy.monitoring import causes
from deploy.monitoring.objectives import OBJECTIVES, Rule

PAGE, TICKET = "page", "ticket"
RUNBOOK = "docs/runbook.md"
SLOW, FIRST_LOOK = "The service is slow", "First look"
OTHERS = 'http_request_duration_seconds_count{route!~"parcel|parcel-search|label|labels|livez|readyz"'
FAULTS = OTHERS + ',status=~"5.."}'
DIES, LOST = "A worker or a host dies", "A label was bought and not recorded"


@dataclass(frozen=True)
class Alert:
    """A rule that tells somebody: at once (a page) or on the next working day (a ticket)."""

    name: str
    severity: str
    summary: str
    expression: str
    section: str
    when: str
    lasts: str = "0s"

    @property
    def anchor(self) -> str:
        return "#" + re.sub(r"[^a-z0-9 -]", "", self.section.lower()).replace(" ", "-")

    @property
    def annotations(self) -> dict[str, str]:
        return {"summary": self.summary, "runbook": RUNBOOK + self.anchor}

    def rule(self) -> Rule:
        waits: Rule = {} if self.lasts == "0s" else {"for": self.lasts}
        told: Rule = {"labels": {"severity": self.severity}, "annotations": self.annotations}
        return {"alert": self.name, "expr": self.expression, **waits, **told}


def burning(name: str, objective: str, summary: str, section: str, *causes_told: str) -> Iterable[Alert]:
    """The alerts of an objective whose budget is spent too fast: the urgent one leaves out what another alert tells."""
    found = OBJECTIVES[objective]
    for index, severity in enumerate(found.severities):
        expression = found.burning(severity, () if index else causes_told)
        words = found.words(severity) + (", for an hour" if index else "")
        yield Alert(name, severity, summary, expression, section, words, "1h" if index else "0s")


def increase(metric: str, window: str, by: str = "carrier", above: int = 0) -> str:
    return f"sum by ({by}) (increase({metric}[{window}])) > {above}"


ALERTS = (
    *burning(
        "LookUpsFail", "look-ups-answered", "Look-ups are answered with errors of ours.", FIRST_LOOK, causes.DATABASE
    ),
    *burning(
        "LookUpsSlow", "look-ups-fast", "Look-ups take more than 50 ms.", SLOW, causes.DATABASE, causes.REDIS
    ),
    *burning(
        "OrdersFail",
        "orders-answered",
        "Orders are answered with errors of ours, not the carrier's.",
        FIRST_LOOK,
        causes.DATABASE,
        causes.STORAGE,
    ),
    Alert(
        "OtherRequestsFail",
        TICKET,
        "Pages, the admin or PDFs are answered with errors of ours.",
        f"sum(rate({FAULTS}[15m])) / sum(rate({OTHERS}}}[15m])) > 0.01 and sum(increase({FAULTS}[15m])) >= 3"
        f" unless on () max_over_time({causes.DATABASE}[15m])",
        FIRST_LOOK,
        "1 % of all other routes' requests, and 3 or more, in 15 minutes",
    ),
    Alert(
        "LabelNotRecorded",
        PAGE,
        "A label was bought and could not be recorded.",
        increase("labels_unrecorded_total", "1h"),
        LOST,
        "one label, within an hour",
    ),
    Alert(
        "RowsVanished",
        PAGE,
        "The database has lost rows that were committed.",
        increase("label_rows_vanished_total", "1h"),
        LOST,
        "one row, within an hour",
    ),
    Alert(
        "PurchaseInterrupted",
        TICKET,
        "A process was killed during a purchase; `work` takes it up.",
        f'max(labels_interrupted{{state="purchasing"}}) > 0 unless on () {causes.INSTANCE}',
        "Interrupted labels",
        "a purchase that no process works on, and no instance is down",
    ),
    Alert(
        "NobodyReconciles",
        PAGE,
        "Interrupted purchases wait and nobody takes them up.",
        f"max(labels_interrupted_oldest_seconds) > 900 unless on () {causes.NO_WORK}",
        "Interrupted labels",
        "the oldest has waited for 15 minutes, though a `work` is up",
    ),
    Alert(
        "LabelsToDecide",
        TICKET,
        "Labels wait for a person's decision.",
        "max(sum by (instance) (labels_to_decide)) > 0",
        "Labels to decide",
        "one or more, for two hours",
        "2h",
    ),
    Alert(
        "OutcomesUnknown",
        TICKET,
        "A carrier leaves the outcome of orders unknown.",
        increase('label_purchases_total{state=~"unknown|incomplete"}', "15m", above=3)
        + f' unless on (carrier) max_over_time({causes.CARRIER}{{service="shipping"}}[15m])',
        "Labels to decide",
        "more than 3 orders in 15 minutes, and no circuit breaker of shipping open meanwhile",
        "1m",
    ),
    Alert(
        "CarrierFails",
        PAGE,
        "A circuit breaker for the carrier's shipping or pickup points is open: orders are refused.",
        causes.CARRIER,
        "A carrier is down, or its circuit breaker is open",
        "a circuit breaker of `shipping` or `pickup points` that is not closed, for half a minute",
        "30s",
    ),
    Alert(
        "CarrierServiceFails",
        TICKET,
        "A circuit breaker for a service that no order needs is open: cancellation, deposit slips, reprints, checks.",
        causes.DESK,
        "A carrier is down, or its circuit breaker is open",
        "a circuit breaker of another service but `tracking` that is not closed, for a minute",
        "1m",
    ),
    Alert(
        "CredentialsRejected",
        TICKET,
        "A carrier refuses a contract's credentials.",
        increase('carrier_call_duration_seconds_count{outcome="credentials_rejected"}', "1h")
        + " or "
        + increase("tracking_refused_contracts_total", "1h"),
        "A carrier refuses the credentials",
        "one refusal within an hour, of an order or of tracking",
    ),
    *burning(
        "TrackingLate",
        "tracking-fresh",
        "Parcels wait for more than an hour to be asked about.",
        "Tracking is late",
        causes.TRACKING,
        causes.NO_WORK,
    ),
    Alert(
        "TrackingFails",
        TICKET,
        "A circuit breaker for the carrier's tracking service is open.",
        causes.TRACKING,
        "Tracking is late",
        "a circuit breaker that is not closed, for a minute",
        "1m",
    ),
    Alert(
        "UnlistedEvents",
        TICKET,
        "A carrier reports event codes that its table lacks.",
        increase("tracking_unlisted_events_total", "1d", above=100),
        "A carrier reports unlisted codes",
        "more than 100 in a day",
    ),
    *burning(
        "WebhooksLate",
        "webhooks-delivered",
        "Webhooks that are due are not sent.",
        "Webhooks do not arrive",
        causes.NO_WORK,
    ),
    Alert(
        "WebhooksFail",
        PAGE,
        "Most endpoints fail at once: the fault is likely ours.",
        "max(webhook_endpoints_failing) > 2 and max(webhook_endpoints_failing) > max(webhook_endpoints_active) / 2",
        "Webhooks do not arrive",
        "more than half of the active endpoints, and 3 or more, fail, for a minute",
        "1m",
    ),
    Alert(
        "WebhookEndpointDisabled",
        TICKET,
        "A shop's endpoint is disabled.",
        "max(webhook_endpoints_disabled) > 0",
        "A shop's endpoint fails",
        "one or more",
    ),
    Alert(
        "DatabaseAway",
        PAGE,
        "The database does not answer.",
        causes.DATABASE,
        "PostgreSQL is away",
        "an instance is up and has no gauges from the database, for half a minute",
        "30s",
    ),
    Alert(
        "RedisAway",
        TICKET,
        "Redis does not answer: each process counts requests for itself.",
        causes.REDIS,
        "Redis is away",
        "requests counted by one process alone, for half a minute",
        "30s",
    ),
    Alert(
        "StorageAway",
        PAGE,
        "Labels are bought, and their PDFs can't be stored.",
        causes.STORAGE,
        "The storage is away or full",
        "one label within 5 minutes, while the database answers",
    ),
    Alert(
        "HostClockOff",
        TICKET,
        "A host's clock is off.",
        "max by (instance) (abs(host_clock_offset_seconds)) > 5",
        "A host's clock is off",
        "more than 5 seconds from the database's, for a minute",
        "1m",
    ),
    Alert(
        "FastPathFails",
        TICKET,
        "Look-ups fail on the fast path and are answered by Django, at twice the CPU time.",
        increase("fast_path_failures_total", "15m", by="route"),
        SLOW,
        "one look-up or search within 15 minutes",
    ),
    Alert(
        "LogHasGaps",
        TICKET,
        "Log lines are lost: what collects the log stands still or is gone.",
        increase("log_lines_dropped_total", "15m", by="instance"),
        "Log lines are lost",
        "one line within 15 minutes",
    ),
    Alert(
        "InstanceDown",
        PAGE,
        "An instance can't be scraped.",
        causes.INSTANCE,
        DIES,
        "`up` is 0, or there is no instance of the service, for a minute",
        "1m",
    ),
)  # fmt: skip
