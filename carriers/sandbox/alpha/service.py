"""The parts that alpha's services share: dispatch, faults, and the shape of answers."""

from collections.abc import Callable, Mapping

from carriers.sandbox.alpha import soap, tables
from carriers.sandbox.faults import Operation
from carriers.sandbox.http import Request, Response
from carriers.sandbox.state import Handler, State

Operations = Mapping[str, Callable[[State, soap.Message], Response]]


def dispatch(namespace: str, operations: Operations, state: State, request: Request) -> Response:
    """Run one of a service's operations; refusals become error codes, malformed requests SOAP faults."""
    try:
        message = soap.read_message(request, namespace, operations)
        return operations[message.operation](state, message)
    except soap.SoapError as error:
        return soap.fault(str(error))
    except soap.RefusalError as refusal:
        return _refused(message, refusal)


def perform(
    state: State, message: soap.Message, do: Handler, reference: str = "", texts: tuple[str, ...] = ()
) -> Response:
    """Perform an operation, or fail it with the fault it meets."""

    def refuse(name: str) -> Response:
        if name == "soapfault":
            return soap.fault("SANDBOX: internal error", "soap:Server")
        return _refused(message, tables.refusal_named(name))

    return state.perform(Operation("alpha", message.operation, reference, texts=texts), do, refuse)


def succeeded(message: soap.Message, content: soap.Elements) -> Response:
    return soap.response(message, [("errorCode", "0"), ("errorMessage", "SANDBOX: done"), *content])


def _refused(message: soap.Message, refusal: soap.RefusalError) -> Response:
    text = refusal.text or tables.MESSAGES_OF[message.namespace].get(refusal.code, "SANDBOX: undocumented error")
    said = f"{text}: {refusal.detail}" if refusal.detail else text
    return soap.response(message, [("errorCode", str(refusal.code)), ("errorMessage", said)])
