"""Spans: the steps of an order, for a tracer that is set where tracing is on (config.ops.tracing)."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from carriers.client import Call

Label = TypeVar("Label")
P = ParamSpec("P")
T = TypeVar("T")


class Tracer(Protocol):
    """Tracing backend for labels and carrier calls."""

    def step(self, name: str, label: Any) -> AbstractContextManager[None]:
        """Make the block a span, below the one that it is in."""

    def call_ended(self, call: Call) -> None:
        """Add a call to a carrier to the span that it was made in, if any."""


tracer: Tracer | None = None


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
