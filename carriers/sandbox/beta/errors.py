"""beta's error codes and their texts, and those that one request provokes."""

from dataclasses import dataclass, field
from typing import Any

from carriers.sandbox.data import error_texts

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

    def cut(self, block: dict[str, Any], longest: dict[str, int], code: int) -> None:
        """Cut over-long texts in place, as the carrier does, each with a warning."""
        for name, limit in longest.items():
            if len(block.get(name, "")) > limit:
                block[name] = block[name][:limit]
                self.warnings.append((str(code), f"{name} is cut to {limit} characters"))
