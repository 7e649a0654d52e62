"""beta's error codes and their texts, and those that one request provokes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from carriers.sandbox.data import error_texts
from carriers.sandbox.rules import Rule, broken

_MEANINGS = error_texts("beta")


def meaning_of(code: str) -> str:
    """Return an error code's text; the carrier's own failures and undocumented codes share one."""
    if "ROUTING" in code:
        return "The country, the postal code and the product do not fit"
    known = _MEANINGS.get(int(code)) if code.isdigit() else None
    return known or "The service is temporarily unavailable"


@dataclass
class Violations:
    """The rules that one request breaks: errors and warnings as code and text, in the order found."""

    errors: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)

    def error(self, code: int, detail: str = "") -> None:
        text = meaning_of(str(code))
        self.errors.append((str(code), f"{text}: {detail}" if detail else text))

    def require(self, is_met: object, code: int, detail: str = "") -> None:
        if not is_met:
            self.error(code, detail)

    def validate(self, block: dict[str, Any], rules: Iterable[Rule]) -> None:
        """Cut over-long texts in place, as the carrier does, each with a warning; then apply the rules."""
        for rule in rules:
            text = block.get(rule.field)
            if rule.too_long and text and len(text) > rule.longest:
                block[rule.field] = text[: rule.longest]
                self.warnings.append((str(rule.too_long), f"{rule.field} is cut to {rule.longest} characters"))
        for code, detail in broken(rules, block):
            self.error(code, detail)
