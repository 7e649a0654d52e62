"""Spans: the steps of an order, for a tracer that is set where tracing is on (config.ops.tracing)."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from carriers.client import Call

Step = TypeVar("Step", bound=Callable[..., Any])
tracer: Any = None  # an `OrderTracer`


def step(name: str) -> Callable[[Step], Step]:
    """Make each call of a function, whose first argument is a label, a span; without a tracer it is only the call."""

    def decorate(function: Step) -> Step:
        @wraps(function)
        def stepped(label: Any, /, *args: Any, **kwargs: Any) -> Any:
            if tracer is None:
                return function(label, *args, **kwargs)
            with tracer.step(name, label):
                return function(label, *args, **kwargs)

        return cast("Step", stepped)

    return decorate


def call_ended(call: Call) -> None:
    if tracer is not None:
        tracer.call_ended(call)
