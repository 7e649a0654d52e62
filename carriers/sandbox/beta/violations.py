"""The rules of beta that one request breaks."""

from dataclasses import dataclass, field
from typing import Any

from carriers.sandbox.beta.errors import meaning_of


@dataclass
class Violations:
    """Errors and warnings as code and text, in the order found."""

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
