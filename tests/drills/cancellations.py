"""Scenarios of the concurrency drill: cancellations beside others, reconciliations, retries and look-ups."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from tests.drills.audit import AuditResult
from tests.drills.environment import Environment
from tests.drills.orders import Orders
from tests.drills.printing import counts
from tests.drills.shop import carrier_of
from tests.support.http import Answer, call
from tests.support.paths import SHIPMENTS
from tests.support.threads import in_threads

PROCESSES, THREADS = 2, 12
EXPECTED = {"201", "201 replayed", *(f"409 {code}" for code in ("IDEMPOTENCY_KEY_IN_PROGRESS", "LABEL_CANCELLED"))}
EXPECTED |= {"409 LABEL_BEING_CANCELLED", "no answer"}  # of a process that was killed
Act = Callable[[int], Answer]  # at a port
Result = tuple[Orders, AuditResult]
Scenario = Callable[[Environment, list[int], int], Result]


def at_once(acts: Sequence[Act], ports: list[int]) -> list[Answer]:
    """Send all requests in the same instant, to the processes in turn."""
    return in_threads(len(acts), lambda number: acts[number](ports[number % len(ports)]))


def cancelled_at_once(env: Environment, _: list[int], keys: int) -> Result:
    """Cancel each label many times at once: one request cancels it, and nobody is told anything else later."""
    orders, faults = of_two_parcels(env, keys // 4), list[str]()
    with serving(env) as ports:
        for key, answers in orders.answers.items():
            label_id = bought(orders, ports[0], key).body["id"]
            acts = [cancel(key)] * 10 + [again(orders, key)] * 5 + [retrieval(env, label_id)] * 5
            seen = at_once(acts, ports)
            answers.extend(seen[10:15])
            accepted = [answer.status for answer in seen[:10]].count(200)
            if accepted != 1:
                faults.append(f"{key}: cancelled {accepted} times")
        return settled(orders, ports[0], faults)


def cancelled_and_reconciled(env: Environment, _: list[int], keys: int) -> Result:
    """Let reconciliations take a cancellation over while its process is still at work, as after it was suspended."""
    orders = of_two_parcels(env, keys // 4)
    with serving(env) as ports, env.faults({"fault": "slow", "operation": "cancelSkybill", "delay_s": 0.1}):
        for key in orders.bodies:
            bought(orders, ports[0], key)
            at_once([cancel(key), *[take_over(key)] * 6], ports)
        return settled(orders, ports[0], [])


def kept_and_cancelled(env: Environment, _: list[int], keys: int) -> Result:
    """Cancel, retry and reconcile labels whose purchase was interrupted before their PDF was stored."""
    orders = of_two_parcels(env, keys // 4)
    with serving(env) as ports, env.forking_server() as mortal:
        for key, answers in orders.answers.items():
            orders.send(mortal.port, key, **{"X-Drill-Kill": "keep-after"})
            acts = [cancel(key)] * 6 + [take_over(key)] * 6 + [again(orders, key)] * 6
            answers.extend(at_once(acts, ports)[12:])
        return settled(orders, ports[0], [])


SCENARIOS: dict[str, Scenario] = {
    "cancelled at once": cancelled_at_once,
    "cancelled, reconciled": cancelled_and_reconciled,
    "kept, cancelled": kept_and_cancelled,
}


@contextmanager
def serving(env: Environment) -> Iterator[list[int]]:
    """Serve the API with the drill's own requests from several processes; yield their ports."""
    with ExitStack() as stack:
        servers = [env.granian("tests.drills.kill_points:application", threads=THREADS) for _ in range(PROCESSES)]
        yield [stack.enter_context(server).port for server in servers]


def of_two_parcels(env: Environment, count: int) -> Orders:
    """Order two parcels each, which alpha cancels one by one."""
    orders = Orders(env)
    for number in range(count):
        orders.add(carrier_of(number), parcels=2)
    return orders


def bought(orders: Orders, port: int, key: str) -> Answer:
    answer = orders.send(port, key)
    assert answer.status == 201, answer
    return answer


def cancel(key: str) -> Act:
    return lambda port: call(port, "POST", f"/drill/cancel?{key}")


def take_over(key: str) -> Act:
    return lambda port: call(port, "POST", f"/drill/take-over?{key}")


def again(orders: Orders, key: str) -> Act:
    return lambda port: orders.env.buy(port, key, orders.bodies[key])


def retrieval(env: Environment, label_id: str) -> Act:
    return lambda port: env.ask(port, "GET", f"{SHIPMENTS}/{label_id}")


def settled(orders: Orders, port: int, faults: list[str]) -> Result:
    """Reconcile what is left, ask with every key once more, and audit."""
    for key in orders.bodies:
        take_over(key)(port)
    for key in orders.bodies:
        orders.send(port, key)
    if unexpected := orders.unexpected(EXPECTED):
        faults.append(f"answered {counts(answer.outcome for answer in unexpected)}")
    return orders, orders.audited(port).with_faults(faults)
