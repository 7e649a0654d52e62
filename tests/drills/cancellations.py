"""Scenarios of the concurrency drill: cancellations beside others, reconciliations, retries and look-ups."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from tests.drills.audit import Audit
from tests.drills.concurrency_result import Act, Keys, Result, at_once
from tests.drills.environment import Environment
from tests.drills.printing import counts
from tests.drills.shop import carrier_of, new_key, order
from tests.support.http import call
from tests.support.paths import SHIPMENTS

PROCESSES, THREADS = 2, 12
CANCELLED, BEING_CANCELLED = "409 LABEL_CANCELLED", "409 LABEL_BEING_CANCELLED"


def cancelled_at_once(env: Environment, _: list[int], keys: int) -> Result:
    """Cancel each label many times at once: one request cancels it, and nobody is told anything else later."""
    answers: Keys = {}
    faults: list[str] = []
    with serving(env) as ports:
        for number in range(keys // 4):
            key = new_key()
            label = bought(env, ports[0], key, number, answers)
            acts = [cancel(key)] * 10 + [again(env, key, number)] * 5 + [retrieval(env, label["id"])] * 5
            seen = at_once(acts, ports)
            answers[key] += seen[10:15]
            accepted = [answer.status for answer in seen[:10]].count(200)
            if accepted != 1:
                faults.append(f"{key}: cancelled {accepted} times")
        return settled(env, ports[0], answers, faults)


def cancelled_and_reconciled(env: Environment, _: list[int], keys: int) -> Result:
    """Let reconciliations take a cancellation over while its process is still at work, as after it was suspended."""
    answers: Keys = {}
    with serving(env) as ports, env.faults({"fault": "slow", "operation": "cancelSkybill", "delay_s": 0.1}):
        for number in range(keys // 4):
            key = new_key()
            bought(env, ports[0], key, number, answers)
            at_once([cancel(key), *[take_over(key)] * 6], ports)
        return settled(env, ports[0], answers, [])


def kept_and_cancelled(env: Environment, _: list[int], keys: int) -> Result:
    """Cancel, retry and reconcile labels whose purchase was interrupted before their PDF was stored."""
    answers: Keys = {}
    with serving(env) as ports, env.forking_server() as mortal:
        for number in range(keys // 4):
            key = new_key()
            answers[key] = [env.buy(mortal, key, ordered(key, number), **{"X-Drill-Kill": "keep-after"})]
            acts = [cancel(key)] * 6 + [take_over(key)] * 6 + [again(env, key, number)] * 6
            answers[key] += at_once(acts, ports)[12:]
        return settled(env, ports[0], answers, [])


SCENARIOS: dict[str, Callable[[Environment, list[int], int], Result]] = {
    "cancelled at once": cancelled_at_once,
    "cancelled, reconciled": cancelled_and_reconciled,
    "kept, cancelled": kept_and_cancelled,
}


@contextmanager
def serving(env: Environment) -> Iterator[list[int]]:
    """Serve the API with the drill's own requests from several processes; yield their ports."""
    with ExitStack() as stack:
        servers = [env.granian("tests.drills.kill_points:application", threads=THREADS) for _ in range(PROCESSES)]
        yield [stack.enter_context(server)[0] for server in servers]


def ordered(key: str, number: int) -> dict[str, object]:
    """Order two parcels, which alpha cancels one by one."""
    return order(key, carrier_of(number), parcels=2)


def bought(env: Environment, port: int, key: str, number: int, answers: Keys) -> dict[str, str]:
    answer = env.buy(port, key, ordered(key, number))
    assert answer.status == 201, answer
    answers[key] = [answer]
    label: dict[str, str] = answer.body
    return label


def cancel(key: str) -> Act:
    return lambda port: call(port, "POST", f"/drill/cancel?{key}")


def take_over(key: str) -> Act:
    return lambda port: call(port, "POST", f"/drill/take-over?{key}")


def again(env: Environment, key: str, number: int) -> Act:
    return lambda port: env.buy(port, key, ordered(key, number))


def retrieval(env: Environment, label_id: str) -> Act:
    return lambda port: env.ask(port, "GET", f"{SHIPMENTS}/{label_id}")


def settled(env: Environment, port: int, answers: Keys, faults: list[str]) -> Result:
    """Reconcile what is left, ask with every key once more, and audit."""
    for key in answers:
        call(port, "POST", f"/drill/take-over?{key}")
    for number, (key, seen) in enumerate(answers.items()):
        seen.append(env.buy(port, key, ordered(key, number)))
    audit = Audit(env)
    result = audit.keys(answers)
    seen = [answer for each in answers.values() for answer in each if answer.status]
    outcomes = Counter(answer.outcome for answer in seen)
    expected = {"201", "201 replayed", "409 IDEMPOTENCY_KEY_IN_PROGRESS", CANCELLED, BEING_CANCELLED}
    if unexpected := set(outcomes) - expected:
        faults.append(f"answered {counts(Counter({each: outcomes[each] for each in unexpected}))}")
    slowest_s = max(answer.duration_s for answer in seen)
    return Result(outcomes, slowest_s, result, [*faults, *result.faults, *audit.wrongly_shown(answers, port)])
