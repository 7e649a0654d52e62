"""A process that buys a label, then one more for each fault named, and prints their costs: URL CARRIER FAULT...

Its memory grows by the client's work only; the first purchase loads everything that is loaded once.
"""

import json
import os
import sys
import time

import requests

from carriers import CARRIERS
from carriers.base import Endpoint
from carriers.client import Limits
from carriers.errors import CarrierError
from tests.carriers.support.sandbox import order
from tests.carriers.support.shipments import CREDENTIALS, PRODUCT
from tests.drills.process import peak_mb

LIMITS = Limits(timeout_s=50, failure_threshold=10**9)
PATHS = {"alpha": "/alpha/shipping", "beta": "/beta/2.0"}
UNARMED = "-"  # for a server that fails without the sandbox's faults


def main(url: str, carrier: str, faults: list[str]) -> None:
    client = CARRIERS[carrier](Endpoint(url + PATHS[carrier]), LIMITS)
    client.create_label(order(PRODUCT[carrier]), CREDENTIALS[carrier])
    first_mb = peak_mb(os.getpid())
    for fault in faults:
        if fault != UNARMED:
            requests.post(f"{url}/control/faults", json={"fault": fault, "count": 1}, timeout=60).raise_for_status()
        started_s, end = time.process_time(), "PurchasedLabel"
        try:
            client.create_label(order(PRODUCT[carrier]), CREDENTIALS[carrier])
        except CarrierError as error:
            end = type(error).__name__
        took_s = time.process_time() - started_s  # CPU time, as a busy machine may let it wait
        sys.stdout.write(json.dumps([fault, end, took_s, peak_mb(os.getpid()) - first_mb]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
