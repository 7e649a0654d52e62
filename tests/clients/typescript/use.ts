// A shop's program with the generated types: makes each call, meets each kind of error, prints the answers.
// SERVICE is a JSON object: url, token, number, orderName, orders.

import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type LabelOrder = components["schemas"]["LabelOrder"];
type ApiError = components["schemas"]["Error"];
type Kind = [number, string | null];
declare const process: { env: Record<string, string | undefined>; stdout: { write(text: string): void } };

interface Service {
  url: string;
  token: string;
  number: string;
  orderName: string;
  orders: Record<"good" | "refused" | "slow" | "lost", LabelOrder>;
}

const service: Service = JSON.parse(process.env["SERVICE"] ?? "");
const nobody = createClient<paths>({ baseUrl: service.url });
const shop = createClient<paths>({ baseUrl: service.url, headers: { Authorization: `Bearer ${service.token}` } });

/** Return a value that must be there, typed as described. */
function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("nothing was answered");
  return value;
}

/** Return status and code of an error. */
function kind({ response, error }: { response: Response; error?: ApiError }): Kind {
  const { message, statusCode, timestamp, code } = there(error);
  if (statusCode !== response.status || !message || Number.isNaN(Date.parse(timestamp))) throw new Error(message);
  return [statusCode, code ?? null];
}

const buy = (body: LabelOrder, key: string) =>
  shop.POST("/public/v1/tracking/shipments", { body, params: { header: { "Idempotency-Key": key } } });
const lookUp = (trackingNumber: string, client = shop) =>
  client.GET("/public/v1/tracking/parcels/{trackingNumber}", { params: { path: { trackingNumber } } });
const search = (query: { orderName?: string; email?: string }) =>
  shop.GET("/public/v1/tracking/search", { params: { query } });
const retrieve = (labelId: string, client = shop) =>
  client.GET("/public/v1/tracking/shipments/{labelId}", { params: { path: { labelId } } });

/** Send two orders at once with one key to a slow carrier: the second is refused. */
async function atOnce(key: string): Promise<Kind> {
  const answers = await Promise.all([buy(service.orders.slow, key), buy(service.orders.slow, key)]);
  const refused = there(answers.find((answer) => answer.error));
  there(answers.find((answer) => answer.data));
  if (!(Number(refused.response.headers.get("Retry-After")) > 0)) throw new Error("no Retry-After");
  return kind(refused);
}

/** Look up until the rate limit refuses. */
async function untilRefused(): Promise<Kind> {
  for (let count = 0; count < 200; count += 1) {
    const answer = await lookUp("NOPE");
    if (answer.response.status === 429) return kind(answer);
  }
  throw new Error("the limit was never reached");
}

const parcel = there((await lookUp(service.number)).data);
const found = there((await search({ orderName: service.orderName })).data);
const bought = there((await buy(service.orders.good, "typescript-1")).data);
const again = await buy(service.orders.good, "typescript-1");
if (again.response.headers.get("Idempotent-Replayed") !== "true") throw new Error("bought again");
const retrieved = there((await retrieve(bought.id)).data);
const pdf = await (await fetch(retrieved.labelUrl)).text();
// Described types, checked by the compiler.
const lastStatus: components["schemas"]["TrackingStatus"] | null = parcel.lastStatus;
const updatedAtMs: number = parcel.updatedAt;
const errors: Kind[] = [
  kind(await search({})),
  kind(await buy(service.orders.refused, "typescript-2")),
  kind(await retrieve("0RCRUGWGBZDJINQ", nobody)),
  kind(await lookUp(service.number, nobody)),
  kind(await lookUp("NOPE")),
  kind(await retrieve("0RCRUGWGBZDJINQ")),
  await atOnce("typescript-3"),
  kind(await buy({ ...service.orders.good, orderId: "x".repeat(2 ** 20) }, "typescript-4")),
  kind(await buy(service.orders.refused, "typescript-1")),
  kind(await buy(service.orders.lost, "typescript-5")),
  await untilRefused(),
];
process.stdout.write(
  JSON.stringify({ parcel: { ...parcel, lastStatus, updatedAt: updatedAtMs }, found, bought, retrieved, pdf: pdf.slice(0, 5), errors }),
);
