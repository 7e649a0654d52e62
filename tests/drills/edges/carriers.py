"""Acts of the carriers and of what stands before them: gateways, late searches, parcels made late."""

import re
import socket

from tests.carriers.support.servers import XML, LoopbackServer, http
from tests.drills.audit import AuditResult
from tests.drills.edges.buyers import SETTLE_S, Buyers
from tests.drills.environment import Environment, sandbox_settings

JSON = "application/json"
KEPT = re.compile(rb"\r\nConnection: [^\r]+", re.IGNORECASE)  # what the client says of its own connection
SOAP = '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>{}</soap:Body></soap:Envelope>'
FAULT = SOAP.format("<soap:Fault><faultcode>soap:Server</faultcode><faultstring>{}</faultstring></soap:Fault>")
ALPHA_CODE = SOAP.format(
    '<p:shippingMultiParcelV4Response xmlns:p="http://cxf.shipping.soap.chronopost.fr/"><return>'
    "<errorCode>{}</errorCode><errorMessage>Unexpected end of upstream</errorMessage>"
    "</return></p:shippingMultiParcelV4Response>"
)
BETA_CODE = '{{"messages": [{{"id": "{}", "type": "ERROR", "messageContent": "Unexpected end of upstream"}}]}}'


# Answers that are not the carrier's, by carrier; it has made the parcel itself each time.
ANSWERS = {
    "alpha": [
        (500, XML, FAULT.format("Read timed out")),
        (500, XML, FAULT.format("Could not send Message.")),
        (200, XML, FAULT.format("Read timed out")),
        (502, JSON, '{"message": "Bad Gateway"}'),
        (504, JSON, '{"message": "Endpoint request timed out"}'),
        (200, XML, ALPHA_CODE.format(99)),
        (504, XML, ALPHA_CODE.format(38)),
    ],
    "beta": [
        (500, JSON, '{"message": "Internal Server Error"}'),
        (502, JSON, '{"error": "Bad Gateway", "message": "upstream closed"}'),
        (504, JSON, '{"message": "Endpoint request timed out"}'),
        (503, JSON, '{"errorCode": "503", "errorLabel": "overloaded"}'),
        (400, JSON, BETA_CODE.format(99999)),
        (500, JSON, BETA_CODE.format(99999)),
    ],
}


class Gateway(LoopbackServer):
    """Passes requests on to a sandbox; `answer` replaces what comes back while it is set."""

    def __init__(self, sandbox_port: int) -> None:
        self.sandbox_port, self.answer = sandbox_port, b""
        super().__init__(self.take)

    def take(self, stream: socket.socket, request: bytes) -> bool:
        """Pass a request on over a connection of its own, whose end is the answer's."""
        head, _, body = request.partition(b"\r\n\r\n")
        with socket.create_connection(("127.0.0.1", self.sandbox_port), timeout=60) as sandbox:
            sandbox.sendall(KEPT.sub(b"", head) + b"\r\nConnection: close\r\n\r\n" + body)
            given = b"".join(iter(lambda: sandbox.recv(65_536), b""))
        if given:  # else the sandbox plays a fault
            stream.sendall(self.answer or given)
        return False


LATE_WRITE_S, LATE_SEARCH_S = 11.0, 60.0
assert SETTLE_S < LATE_SEARCH_S


def gateway_answers(env: Environment, carrier: str) -> AuditResult:
    """Let a gateway answer in the carrier's place when the carrier has made the parcel: the outcome is unknown."""
    total, faults = Buyers(env), []
    unknown = f"502 {carrier.upper()}_OUTCOME_UNKNOWN"
    with Gateway(env.sandbox_port) as before, env.setting(through(before.port)), env.forking_server() as server:
        port = server.port
        for status, media_type, body in ANSWERS[carrier]:
            buyers = Buyers(env, 3, carrier)
            before.answer = http(body.encode(), status, media_type)
            given = {each.outcome for each in buyers.send_all(port)}
            faults += [f"{status} {body!r} is answered as {each}" for each in given - {unknown}]
            before.answer = b""
            env.buy_control(port, carrier)  # its success keeps the circuit breaker closed
            total.join(buyers)
        total.settle(port)
        return total.asked_and_audited(port).with_faults(faults)


def through(port: int) -> dict[str, str]:
    """Return the settings that send purchases through a gateway; alpha's search has its own way."""
    settings = sandbox_settings(port)
    return {name: settings[name] for name in ("ALPHA_URL", "BETA_URL")}


def late_search(env: Environment) -> AuditResult:
    """Kill purchases that alpha has made, while its search shows no parcel of the last minute."""
    buyers = Buyers(env, 4, "alpha")
    with env.forking_server() as server:
        port = server.port
        with env.faults({"fault": "unfound", "delay_s": LATE_SEARCH_S}):
            killed(buyers, port, "call-answered")
            buyers.settle(port)
        buyers.settle(port, seconds=4)
        return buyers.asked_and_audited(port)


def late_writer(env: Environment) -> AuditResult:
    """Kill purchases whose parcel the carrier makes only after the lease."""
    buyers = Buyers(env, 4, "alpha")
    with env.forking_server() as server:
        port = server.port
        with env.faults({"fault": "slow", "delay_s": LATE_WRITE_S, "operation": "shippingMultiParcelV4", "count": 4}):
            killed(buyers, port, "call-sent")
        buyers.settle(port)
        return buyers.asked_and_audited(port)


def killed(buyers: Buyers, port: int, point: str) -> None:
    for key in buyers.bodies:
        answer = buyers.send(port, key, **{"X-Drill-Kill": point})
        assert not answer.status, f"{point} was not reached: {answer}"
