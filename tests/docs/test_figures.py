"""The figures in the guide, in the runbook on rotations, and of a container's memory are those of the code."""

from datetime import timedelta

import yaml
from django.conf import settings

from carriers import CARRIERS
from carriers.products import PRODUCTS
from carriers.tracking import Status
from config.api.bodies import MAX_JSON_BYTES
from config.api.middleware import PIECE_BYTES
from config.docs.guide import PAGES
from config.docs.openapi.views import as_json, as_yaml
from config.login.devices import MAX_AGE_S
from config.ops.serving import MAX_CONNECTIONS
from labels.order_rules import MAX_ITEMS, MAX_WEIGHT_KG
from labels.pdfs.storage import URL_LIFETIME_S
from labels.points import MAX_LIMIT as MAX_POINTS
from parcels.queries import SEARCH_LIMIT
from parcels.tracking.schedule import HOUR, INTERVALS
from shops.api.authentication import TOKEN_CACHE_TTL_S
from shops.api.cursors import MAX_LIMIT as MAX_PAGE
from shops.webhooks.endpoints import MAX_ENDPOINTS
from shops.webhooks.feed import EVENTS_KEPT
from shops.webhooks.serializers import MAX_EVENTS
from tests.support.deployment import COMPOSE
from tests.support.processes import ROOT

MINUTE = timedelta(minutes=1)


def test_the_figures_in_the_text_are_the_codes_own() -> None:
    alpha, beta = CARRIERS["alpha"], CARRIERS["beta"]
    text = " ".join(" ".join(page.source.read_text(encoding="utf-8") for page in PAGES).split())
    relay = {product.max_weight_kg for product in PRODUCTS.values() if product.carrier == "alpha"} - {MAX_WEIGHT_KG}
    for sentence in (
        f"alpha takes up to {alpha.max_parcels}, beta up to {beta.max_parcels}",
        f"at most {alpha.max_reference_length} characters with alpha, {beta.max_reference_length} with beta",
        f"at most {MAX_WEIGHT_KG} for each parcel; at most {relay.pop()} with alpha's pickup points",
        f"{settings.RATE_LIMIT[0]} in {settings.RATE_LIMIT[1]} seconds",
        f"| parcels in a search | {SEARCH_LIMIT} |",
        f"| a label's URL | valid for {URL_LIFETIME_S // 60} minutes |",
        f"| a request's body | {MAX_JSON_BYTES // 1024} KiB |",
        f"events, pickup points in an answer | {MAX_PAGE}, {MAX_EVENTS}, {MAX_POINTS} |",
        f"| parcels of an order | {alpha.max_parcels} with alpha, {beta.max_parcels} with beta |",
        f"| items of its customs declaration | {MAX_ITEMS} |",
        f"| webhook endpoints | {MAX_ENDPOINTS} |",
        f"given up after {settings.CARRIER_TIMEOUT:.0f} seconds",
        f"every {INTERVALS[Status.IN_TRANSIT] // HOUR} hours while a parcel is on its way",
        f"every {INTERVALS[Status.OUT_FOR_DELIVERY] // MINUTE} minutes on the day of delivery",
        f"An event is kept for {EVENTS_KEPT.days} days after it happened",
    ):
        assert sentence in text
    assert TOKEN_CACHE_TTL_S == 2
    assert "within two seconds" in text


def test_an_earlier_secret_key_stays_for_as_long_as_something_of_it_is_in_use() -> None:
    runbook = (ROOT / "docs" / "runbook" / "fail.md").read_text(encoding="utf-8")
    (row,) = (line for line in runbook.splitlines() if line.startswith("| `SECRET_KEY` |"))
    lives = {EVENTS_KEPT.days, timedelta(seconds=MAX_AGE_S).days, settings.KEEP_AUDIT_DAYS}
    assert [days for days in lives if f"{days} days" not in row] == []
    assert f"after {max(lives)} days remove it" in row


def test_answers_that_no_client_reads_fit_into_the_memory_of_the_container() -> None:
    """With two workers, and what they take with a bucket after thousands of labels."""
    assert yaml.safe_load(COMPOSE.read_text())["services"]["service"]["mem_limit"] == "1536m"
    largest_bytes = max(len(as_yaml()), len(as_json()), 2 * PIECE_BYTES)
    assert 2 * MAX_CONNECTIONS * largest_bytes + 300 * 2**20 < 1536 * 2**20
