<?php

// A new user's first half hour: find a point, check, buy, hear of it, miss an event and ask for it, cancel, list.
// It serves its own webhooks: `php -S 127.0.0.1:9000 half_hour.php` receives, and writes a line for each into FOLDER.

function is_genuine(string $secret, array $headers, string $body, ?int $now = null): bool
{
    $sent_at = $headers['webhook-timestamp'];
    if (abs(($now ?? time()) - (int) $sent_at) > 300) {
        return false;
    }
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $expected = base64_encode(hash_hmac('sha256', "{$headers['webhook-id']}.$sent_at.$body", $key, true));
    foreach (explode(' ', $headers['webhook-signature']) as $each) {
        if (hash_equals("v1,$expected", $each)) {
            return true;
        }
    }
    return false;
}

if (PHP_SAPI === 'cli-server') {
    $body = file_get_contents('php://input');
    $headers = array_change_key_case(getallheaders());
    $genuine = is_genuine(file_get_contents(getenv('FOLDER') . '/secret'), $headers, $body);
    $event = json_decode($body, true);
    $line = json_encode(['id' => $headers['webhook-id'], 'genuine' => $genuine, 'event' => $event]);
    file_put_contents(getenv('FOLDER') . '/received', "$line\n", FILE_APPEND);
    http_response_code($event['type'] === 'label.cancelled' ? 500 : 204); // it fails at the one that is missed
    return;
}

function asked(string $method, string $path, array $query = [], ?array $body = null, array $headers = []): ?array
{
    $request = stream_context_create(['http' => [
        'method' => $method,
        'header' => ['Authorization: Bearer ' . getenv('TOKEN'), 'Content-Type: application/json', ...$headers],
        'content' => $body === null ? '' : json_encode($body, JSON_THROW_ON_ERROR),
        'timeout' => 60,
        'ignore_errors' => true, // an error has a body too
    ]]);
    $url = getenv('URL') . "/public/v1/tracking/$path?" . http_build_query($query);
    $answer = json_decode(file_get_contents($url, false, $request), true);
    if (isset($answer['statusCode'])) {
        throw new RuntimeException($answer['message']);
    }
    return $answer;
}

/** Wait for a webhook of this type about the label. */
function received(string $type, string $label, string $endpoint): array
{
    for ($count = 0; $count < 600; $count++) {
        foreach (@file(getenv('FOLDER') . '/received') ?: [] as $line) {
            $webhook = json_decode($line, true);
            if ($webhook['event']['type'] === $type && $webhook['event']['data']['id'] === $label) {
                return $webhook;
            }
        }
        usleep(100_000);
    }
    $deliveries = json_encode(asked('GET', "webhooks/$endpoint/deliveries")['data']);
    throw new RuntimeException("$type never came, but $deliveries");
}

$place = asked('GET', 'events', ['after' => 'now'])['next'];
$where = ['zip' => '69005', 'city' => 'Lyon'];
$product = 'beta_point_retrait_france';
$points = asked('GET', 'pickup-points', $where + ['productCode' => $product, 'weight' => 1.2])['data'];
echo "point: {$points[0]['name']}\n";

$order = [
    'orderId' => getenv('ORDER'),
    'carrierCode' => 'beta',
    'productCode' => $product,
    'pickupPointCode' => $points[0]['pickupPointCode'],
    'destinationAddress' => $where + [
        'firstName' => 'Agnès', 'lastName' => 'Bœuf', 'address1' => '7 rue Saint-Jean', 'countryCode' => 'FR',
        'phone' => '+33 6 99 00 33 44', 'email' => 'agnes.boeuf@example.com',
    ],
    'parcels' => [['weight' => 1.2]],
];
$check = asked('POST', 'shipments/check', [], $order);
echo 'check: ', $check['ok'] ? 'ok' : json_encode($check['problems']), "\n";

$endpoint = asked('POST', 'webhooks', [], ['url' => getenv('HOOKS')]);
file_put_contents(getenv('FOLDER') . '/secret', $endpoint['secret']);
$label = asked('POST', 'shipments', [], $order, ['Idempotency-Key: ' . getenv('ORDER')]);
echo "bought: {$label['status']}\n";
$webhook = received('label.generated', $label['id'], $endpoint['id']);
echo 'webhook: ', $webhook['genuine'] ? 'genuine' : 'FORGED', "\n";

$cancelled = asked('POST', "shipments/{$label['id']}/cancel");
echo "cancel: {$cancelled['status']}\n";
$missed = received('label.cancelled', $label['id'], $endpoint['id']);
$found = [];
do {
    $page = asked('GET', 'events', ['after' => $place]);
    $found += array_column($page['data'], 'type', 'id');
    $place = $page['next'];
    $is_found = isset($found[$missed['id']]);
    sleep($is_found ? 0 : 1); // an event can appear some moments after its webhook
} while ($page['hasMore'] || !$is_found);
echo "missed: {$found[$missed['id']]}\n";

asked('DELETE', "webhooks/{$endpoint['id']}");
$listed = asked('GET', 'shipments', ['orderId' => getenv('ORDER')])['data'];
echo 'listed: ', count($listed), "\n";
