"""Acts of the carriers and of what stands before them: gateways, late searches, parcels made late."""

from tests.drills.audit import AuditResult
from tests.drills.edges.buyers import SETTLE_S, Buyers
from tests.drills.edges.gateway import ANSWERS, gateway
from tests.drills.environment import Environment, sandbox_settings

LATE_WRITE_S, LATE_SEARCH_S = 11.0, 60.0
assert SETTLE_S < LATE_SEARCH_S


def gateway_answers(env: Environment, carrier: str) -> AuditResult:
    """Let a gateway answer in the carrier's place when the carrier has made the parcel: the outcome is unknown."""
    total, faults = Buyers(env, 0), []
    unknown = f"502 {carrier.upper()}_OUTCOME_UNKNOWN"
    with gateway(env.sandbox_port) as before, env.setting(through(before.port)), env.forking_server() as port:
        for answer in ANSWERS[carrier]:
            buyers = Buyers(env, 3, carrier)
            before.answer = answer
            given = {each.outcome for each in buyers.ask_all(port)}
            faults += [f"{answer.decode()!r} is answered as {each}" for each in given - {unknown}]
            before.answer = None
            env.buy_control(port, carrier)  # its success keeps the circuit breaker closed
            total.join(buyers)
        total.settle(port)
        return total.audited(port).with_faults(faults)


def through(port: int) -> dict[str, str]:
    """Return the settings that send purchases through a gateway; alpha's search has its own way."""
    settings = sandbox_settings(port)
    return {name: settings[name] for name in ("ALPHA_URL", "BETA_URL")}


def late_search(env: Environment) -> AuditResult:
    """Kill purchases that alpha has made, while its search shows no parcel of the last minute."""
    buyers = Buyers(env, 4, "alpha")
    with env.forking_server() as port:
        with env.faults({"fault": "unfound", "delay_s": LATE_SEARCH_S}):
            killed(buyers, port, "call-answered")
            buyers.settle(port)
        buyers.settle(port, seconds=4)
        return buyers.audited(port)


def late_writer(env: Environment) -> AuditResult:
    """Kill purchases whose parcel the carrier makes only after the lease."""
    buyers = Buyers(env, 4, "alpha")
    with env.forking_server() as port:
        with env.faults({"fault": "slow", "delay_s": LATE_WRITE_S, "operation": "shippingMultiParcelV4", "count": 4}):
            killed(buyers, port, "call-sent")
        buyers.settle(port)
        return buyers.audited(port)


def killed(buyers: Buyers, port: int, point: str) -> None:
    for key in buyers.carriers:
        answer = buyers.ask(port, key, **{"X-Drill-Kill": point})
        assert not answer.status, f"{point} was not reached: {answer}"
