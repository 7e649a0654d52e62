"""Spans: the steps of an order, for a tracer that is set where tracing is on (config.ops.tracing)."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from carriers.client import Call

Label = TypeVar("Label")
P = ParamSpec("P")
T = TypeVar("T")
tracer: Any = None  # an `OrderTracer`


def step(
    name: str,
) -> Callable[[Callable[Concatenate[Label, P], T]], Callable[Concatenate[Label, P], T]]:
    """Make each call of a function, whose first argument is a label, a span; without a tracer it is only the call."""

    def decorate(function: Callable[Concatenate[Label, P], T]) -> Callable[Concatenate[Label, P], T]:
        @wraps(function)
        def stepped(label: Label, /, *args: P.args, **kwargs: P.kwargs) -> T:
            if tracer is None:
                return function(label, *args, **kwargs)
            with tracer.step(name, label):
                return function(label, *args, **kwargs)

        return stepped

    return decorate


def call_ended(call: Call) -> None:
    if tracer is not None:
        tracer.call_ended(call)
