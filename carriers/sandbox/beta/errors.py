"""beta's error codes and their texts, and those that one request provokes."""

from dataclasses import dataclass, field
from typing import Any

_MEANINGS = (
    (30000, 30000, "Wrong credentials"),
    (30007, 30007, "The contract is inactive"),
    (30008, 30008, "The service is not allowed for this login"),
    (30009, 30009, "The product is not on the contract"),
    (30002, 30002, "The deposit date is in the past"),
    (30010, 30010, "The deposit date is wrong"),
    (30014, 30015, "The product code is unknown"),
    (30018, 30018, "The commercial name is missing"),
    (30020, 30020, "The total amount is missing or wrong"),
    (30017, 30026, "The service's options are wrong"),
    (30043, 30085, "The sender's address is wrong"),
    (30089, 30089, "The recipient's name is wrong"),
    (30090, 30090, "The request is refused"),
    (30100, 30109, "The sender's address is wrong"),
    (30200, 30202, "The recipient's name is missing"),
    (30204, 30212, "The recipient's address is wrong"),
    (30213, 30213, "The product does not go to this country"),
    (30220, 30221, "The recipient's mobile number is missing or wrong"),
    (30222, 30223, "The recipient's e-mail is missing or wrong"),
    (30300, 30301, "The weight is missing or wrong"),
    (30318, 30318, "The product is not possible"),
    (30303, 30327, "The parcel's options are wrong"),
    (30400, 30400, "The pickup point is missing"),
    (30401, 30401, "The pickup point is unknown"),
    (30402, 30402, "The product goes to no pickup point"),
    (30403, 30403, "The pickup point is in another country"),
    (30519, 30519, "The tariff number is wrong"),
    (30562, 30562, "The EORI number is missing or wrong"),
    (30500, 30554, "The customs declaration is missing or wrong"),
    (30600, 30600, "A character is forbidden"),
    (30700, 30700, "The product is not on the contract"),
    (30702, 30703, "The request is refused"),
    (30704, 30820, "Returns and collections are not possible"),
    (30900, 30900, "The pickup point is closed"),
    (30901, 30901, "The pickup point takes no parcel of this weight"),
    (30902, 30902, "The pickup point is full"),
    (30903, 30904, "The pickup point is not served"),
    (14040, 14040, "The request is refused"),
    (40011, 40013, "The request is refused"),
    (40016, 40017, "The request is refused"),
    (50031, 50031, "Invalid parcel number"),
)


def meaning_of(code: str) -> str:
    """Return an error code's text; the carrier's own failures and undocumented codes share one."""
    if "ROUTING" in code:
        return "The country, the postal code and the product do not fit"
    if code.isdigit():
        for first, last, text in _MEANINGS:
            if first <= int(code) <= last:
                return text
    return "The service is temporarily unavailable"


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
