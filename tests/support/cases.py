"""Cases that share a test: none needs a world of its own, and pytest's work for a test takes longer than theirs."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

Test = Callable[..., None]


def in_one_test(names: str, cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each case in turn, in one world, as `parametrize` does in many; a failure names its case."""
    given, in_turn = names.split(", "), list(cases)
    assert in_turn

    def decorated(test: Test) -> Test:
        @wraps(test)
        def run(**fixtures: Any) -> None:
            for case in in_turn:
                values = case if len(given) > 1 else (case,)
                try:
                    test(**fixtures, **dict(zip(given, values, strict=True)))
                except BaseException as error:
                    error.add_note(f"In the case {case!r:.1000}")
                    raise

        signature = inspect.signature(test)
        fixtures = [parameter for name, parameter in signature.parameters.items() if name not in given]
        run.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]  # pytest reads it
        return run

    return decorated
