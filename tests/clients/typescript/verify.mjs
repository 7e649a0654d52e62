// Verifies a request with the `standardwebhooks` package.
import { Webhook, WebhookVerificationError } from "standardwebhooks";

const request = JSON.parse(process.env.REQUEST);
try {
  console.log("verified", new Webhook(request.secret).verify(request.body, request.headers).type);
} catch (error) {
  if (!(error instanceof WebhookVerificationError)) throw error;
  console.log("refused");
}
