"""States that are recorded while they last, so that one failure raises one alert.

A cause has a sample only while it lasts: `unless` and `max_over_time` ask for no value.
"""

from deploy.monitoring.objectives import TRACKING_LATE, WEBHOOKS_LATE

SERVICE, WORK = "parcel-service", "parcel-work"  # the names of the jobs in Prometheus
UP = f'up{{job=~"{SERVICE}|{WORK}"}}'
DATABASE, REDIS, STORAGE = "cause:database_away", "cause:redis_away", "cause:storage_away"
CARRIER, TRACKING = "cause:carrier_fails", "cause:tracking_fails"
DESK = "cause:carrier_service_fails"  # a service that staff and the background process use, and no order
INSTANCE, NO_WORK = "cause:instance_down", "cause:no_work"


def open_breakers(services: str) -> str:
    return f'sum by (carrier, service) (carrier_circuit_breaker{{state!="closed",service{services}}}) > 0'


ORDERS, TRACKERS = "shipping|pickup points", "tracking"
CAUSES = {
    # A host that is scraped and has none of the gauges that come from the database.
    DATABASE: f"{UP} == 1 unless on (job, instance) labels_interrupted_oldest_seconds",
    REDIS: "sum(rate(rate_limit_stand_in_total[1m])) > 0",
    STORAGE: f'sum(increase(label_purchases_total{{state="received"}}[5m])) > 0 unless on () {DATABASE}',
    CARRIER: open_breakers(f'=~"{ORDERS}"'),
    TRACKING: open_breakers(f'="{TRACKERS}"'),
    DESK: open_breakers(f'!~"{ORDERS}|{TRACKERS}"'),
    INSTANCE: f'{UP} == 0 or absent(up{{job="{SERVICE}"}})',
    NO_WORK: f'count(up{{job="{WORK}"}}) unless count(up{{job="{WORK}"}} == 1)',
}
CONDITIONS = {
    TRACKING_LATE: "max(tracking_oldest_due_seconds) > bool 3600",
    WEBHOOKS_LATE: "max(webhook_oldest_due_seconds) > bool 30",
}
