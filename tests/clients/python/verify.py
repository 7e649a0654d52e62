"""Verifies a request with the `standardwebhooks` package; run with the clients' own Python."""

import json
import os

from standardwebhooks import Webhook, WebhookVerificationError

request = json.loads(os.environ["REQUEST"])
try:
    print("verified", Webhook(request["secret"]).verify(request["body"], request["headers"])["type"])
except WebhookVerificationError:
    print("refused")
