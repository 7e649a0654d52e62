"""The parts that alpha's shipping and tracking services share: dispatch, faults, and the shape of answers."""

from collections.abc import Callable, Mapping

from carriers.sandbox.alpha import point_tables, soap, tables
from carriers.sandbox.fault_registry import Operation
from carriers.sandbox.http import Request, Response
from carriers.sandbox.state import Handler, State

Operations = Mapping[str, Callable[[State, soap.Message], Response]]


def dispatch(state: State, request: Request, namespace: str, operations: Operations) -> Response:
    """Run one of a service's operations; refusals become error codes, malformed requests SOAP faults."""
    try:
        message = soap.read_message(request, namespace, operations)
        return operations[message.operation](state, message)
    except soap.SoapError as error:
        return soap.fault(str(error))
    except soap.RefusalError as refusal:
        return refused(namespace, message.operation, refusal.code, refusal.message)


def perform(state: State, namespace: str, operation: Operation, do: Handler) -> Response:
    """Perform an operation, or fail it with the fault it meets."""
    return state.perform(operation, do, lambda fault: _refusal(namespace, operation.name, fault))


def succeeded(namespace: str, operation: str, content: soap.Elements) -> Response:
    return _answered(namespace, operation, 0, "SANDBOX: done", content)


def refused(namespace: str, operation: str, code: int, message: str) -> Response:
    return _answered(namespace, operation, code, message, [])


def _answered(namespace: str, operation: str, code: int, message: str, content: soap.Elements) -> Response:
    return soap.response(namespace, operation, [("errorCode", str(code)), ("errorMessage", message), *content])


def _refusal(namespace: str, operation: str, name: str) -> Response:
    """Return an operation's refusal for a fault's name or an error code."""
    if name == "soapfault":
        return soap.fault("SANDBOX: internal error", "soap:Server")
    if name in tables.REFUSALS_33:
        return refused(namespace, operation, 33, tables.REFUSALS_33[name])
    if not name.isdigit():
        return refused(namespace, operation, 33, f"invalid data: SANDBOX has no such fault for alpha ({name})")
    messages = point_tables.MESSAGES if namespace == tables.POINTS else tables.MESSAGES
    message = messages.get(int(name), "SANDBOX: undocumented error")
    return refused(namespace, operation, int(name), message)
