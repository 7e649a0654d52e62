<?php

// A shop's program with the generated client: makes each call, meets each kind of error, prints the answers.
// SERVICE is a JSON object: url, token, number, orderName, orders. The client is in the folder CLIENT.

declare(strict_types=1);

use GuzzleHttp\Client;
use ParcelClient\Api\LabelsApi;
use ParcelClient\Api\ParcelsApi;
use ParcelClient\ApiException;
use ParcelClient\Configuration;
use ParcelClient\Model\Error;
use ParcelClient\Model\LabelOrder;
use ParcelClient\ObjectSerializer;

require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    [$package, $name] = explode('\\', $class, 2) + ['', ''];
    if ($package === 'ParcelClient') {
        require getenv('CLIENT') . '/lib/' . strtr($name, '\\', '/') . '.php';
    }
});
set_error_handler(function (int $severity, string $message, string $file, int $line): never {
    throw new ErrorException($message, 0, $severity, $file, $line);
});
ObjectSerializer::setDateTimeFormat('Y-m-d\TH:i:s.v\Z');

$service = json_decode(getenv('SERVICE'), flags: JSON_THROW_ON_ERROR);
$with_token = fn (?string $token) => (new Configuration())->setHost($service->url)->setAccessToken($token);
$http = new Client(['timeout' => 60]);
$shop = $with_token($service->token);
$labels = new LabelsApi($http, $shop);
$impatient = new LabelsApi(new Client(['timeout' => 1]), $shop);
$parcels = new ParcelsApi($http, $shop);
$nobodys_labels = new LabelsApi($http, $with_token(null));
$nobodys_parcels = new ParcelsApi($http, $with_token(null));

function order(string $name, array $changes = []): LabelOrder
{
    global $service;
    return ObjectSerializer::deserialize((object) ($changes + (array) $service->orders->$name), LabelOrder::class);
}

/** Return an order that is too large though each of its fields is as long as described, which the client looks at. */
function large_order(): LabelOrder
{
    global $service;
    $texts = ['firstName', 'lastName', 'company', 'address1', 'address2', 'city', 'zip', 'instructions'];
    $address = array_fill_keys($texts, str_repeat('é', 1000)) + (array) $service->orders->good->destinationAddress;
    $parcels = array_fill(0, 99, (object) ['weight' => 1, 'reference' => str_repeat('é', 35)]);
    return order('good', ['destinationAddress' => (object) $address, 'parcels' => $parcels]);
}

/** Return status and code of an error, which the client has parsed as described. */
function kind(callable $call): array
{
    try {
        $call();
    } catch (ApiException $exception) {
        $error = $exception->getResponseObject();
        assert($error instanceof Error && $error->getStatusCode() === $exception->getCode());
        assert($error->getMessage() !== '' && $error->getTimestamp() instanceof DateTime);
        if (in_array($exception->getCode(), [409, 429], true)) {
            assert((int) $exception->getResponseHeaders()['retry-after'][0] > 0);
        }
        return [$exception->getCode(), $error->getCode()];
    }
    return [];
}

/** Give up on a slow carrier, and send the order again with the same key: the first still runs. */
function at_once(string $key): array
{
    global $impatient, $labels;
    try {
        $impatient->buyLabel(order('slow'), $key);
    } catch (ApiException $exception) {
        assert($exception->getCode() === 0);
    }
    return kind(fn () => $labels->buyLabel(order('slow'), $key));
}

/** Look up until the rate limit refuses. */
function until_refused(): array
{
    global $parcels;
    for ($count = 0; $count < 200; $count++) {
        $error = kind(fn () => $parcels->lookUpParcel('NOPE'));
        if ($error[0] === 429) {
            return $error;
        }
    }
    throw new RuntimeException('the limit was never reached');
}

$parcel = $parcels->lookUpParcel($service->number);
$found = $parcels->searchParcels($service->orderName);
$bought = $labels->buyLabel(order('good'), 'php-1');
[, , $headers] = $labels->buyLabelWithHttpInfo(order('good'), 'php-1');
assert($headers['idempotent-replayed'] === ['true']);
$retrieved = $labels->retrieveLabel($bought->getId());
$pdf = $nobodys_labels->openLabelPdf(rawurldecode(explode('/files/', $retrieved->getLabelUrl())[1]));
$errors = [
    kind(fn () => $parcels->searchParcels()),
    kind(fn () => $labels->buyLabel(order('refused'), 'php-2')),
    kind(fn () => $nobodys_labels->retrieveLabel('0RCRUGWGBZDJINQ')),
    kind(fn () => $nobodys_parcels->lookUpParcel($service->number)),
    kind(fn () => $parcels->lookUpParcel('NOPE')),
    kind(fn () => $labels->retrieveLabel('0RCRUGWGBZDJINQ')),
    at_once('php-3'),
    kind(fn () => $labels->buyLabel(large_order(), 'php-4')),
    kind(fn () => $labels->buyLabel(order('refused'), 'php-1')),
    kind(fn () => $labels->buyLabel(order('lost'), 'php-5')),
    until_refused(),
];
echo json_encode(array_map(ObjectSerializer::sanitizeForSerialization(...), [
    'parcel' => $parcel,
    'found' => $found,
    'bought' => $bought,
    'retrieved' => $retrieved,
    'pdf' => $pdf->fread(5),
    'errors' => $errors,
]), JSON_THROW_ON_ERROR);
