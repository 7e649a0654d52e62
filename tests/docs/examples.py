"""The guide's examples: code to run, and the answer shown below it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from config.docs.guide import PAGES, markdown

RUN = ("sh", "python", "js", "php")
SHOWN = ("http", "json", "text")
MORE = "..."  # in an answer: further fields

# Values that differ each time, by name: the pattern of both the shown and the real value.
ISO_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
MILLISECONDS = r"\d{13}"
VARYING = {
    "timestamp": ISO_TIME,
    "asOf": ISO_TIME,
    "createdAt": f"{MILLISECONDS}|{ISO_TIME}",
    "updatedAt": MILLISECONDS,
    "date": MILLISECONDS,
    "lastStatusUpdatedAt": MILLISECONDS,
    "exactDeliveryDay": MILLISECONDS,
    "minimumDeliveryDate": MILLISECONDS,
    "maximumDeliveryDate": MILLISECONDS,
    "id": r"0[0-9A-Z]{14}|we_[0-9a-f]{16}",  # a label's, an endpoint's
    "secret": r"whsec_[\w+/]{43}=",
    "next": r"[\w-]+:\w+:[\w-]+",
    "trackingNumber": r"XU\d{9}FR|6A\d{11}",
    "labelUrl": r"http://127\.0\.0\.1:\d+/files/labels/\d{4}/\d\d/0[0-9A-Z]{14}\.pdf%3A\w{6}%3A[\w-]{43}",
    "message": r"The limit of 100 requests per 60 seconds is used up\. Retry in \d+ seconds?\.",
    "x-request-id": r"[0-9a-f]{32}",
    "ratelimit": r'"shop";r=\d+;t=\d+',
    "retry-after": r"\d+",
}
# Of these, equal shown values stand for equal real ones.
LASTING = ("id", "trackingNumber")


@dataclass(frozen=True)
class Example:
    """A block of code with the answer below it, if any; `words` follow the language."""

    place: str
    language: str
    words: tuple[str, ...]
    code: str
    answer_kind: str
    answer: str


def examples() -> list[Example]:
    """Return those of all pages, in the order in which they are read."""
    return [example for page in PAGES for example in examples_in(page.source)]


def examples_in(source: Path) -> Iterator[Example]:
    tokens = markdown().parse(source.read_text(encoding="utf-8"))
    for block, below in pairwise([*tokens, tokens[-1]]):
        language, *words = block.info.split() or [""]
        if block.type == "fence" and language in RUN:
            assert block.map
            is_answered = below.type == "fence" and below.info in SHOWN
            answer = (below.info, below.content) if is_answered else ("", "")
            place = f"{source.name}:{block.map[0] + 1}"
            yield Example(place, language, tuple(words), block.content, *answer)


def parse_json(text: str) -> Any:
    """Parse an answer's JSON, in which a line of three dots stands for further fields."""
    return json.loads(re.sub(r"^(\s*)\.\.\.$", rf'\1"{MORE}": 0', text, flags=re.MULTILINE))


def parse_http(text: str) -> tuple[str, dict[str, str], str]:
    """Return the status line, headers by lower-case name, and the body."""
    head, _, body = text.replace("\r\n", "\n").partition("\n\n")
    status, *lines = head.splitlines()
    return status.strip(), {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}, body


@dataclass
class Comparison:
    """Compares answers with the shown ones; `known` maps shown values to those of this run."""

    known: dict[str, str]

    def differences(self, example: Example, output: str) -> Iterator[str]:
        if example.answer_kind == "text" and output != example.answer:
            yield f"printed {output!r}"
        if example.answer_kind == "json":
            yield from self.of_values(parse_json(example.answer), json.loads(output))
        if example.answer_kind == "http":
            shown_status, shown_headers, shown_body = parse_http(example.answer)
            status, headers, body = parse_http(output)
            yield from self.of_values(shown_status, status, "status")
            present = {name: headers.get(name) for name in shown_headers}
            for name, value in shown_headers.items():
                yield from self.of_values(value, present[name], name)
            yield from self.of_values(parse_json(shown_body), json.loads(body))

    def of_values(self, shown: Any, value: Any, path: str = "") -> Iterator[str]:
        if isinstance(shown, dict) and isinstance(value, dict):
            names = [name for name in shown if name != MORE]
            if names != [name for name in value if name in shown or MORE not in shown]:
                yield f"{path}: has the fields {list(value)}"
            for name in names:
                yield from self.of_values(shown[name], value.get(name), f"{path}.{name}".lstrip("."))
        elif isinstance(shown, list) and isinstance(value, list) and len(shown) == len(value):
            for index, pair in enumerate(zip(shown, value, strict=True)):
                yield from self.of_values(*pair, f"{path}[{index}]")
        elif not self.is_alike(path.rpartition(".")[2], shown, value):
            yield f"{path}: {value!r}"

    def is_alike(self, name: str, shown: Any, value: Any) -> bool:
        pattern = VARYING.get(name)
        if pattern is None or not re.fullmatch(pattern, str(shown)):
            return bool(shown == value) and type(shown) is type(value)
        if name in LASTING and self.known.setdefault(shown, value) != value:
            return False
        return type(shown) is type(value) and bool(re.fullmatch(pattern, str(value)))

    def as_run(self, code: str) -> str:
        """Replace shown values in the code by those of this run."""
        for shown, value in self.known.items():
            code = code.replace(shown, value)
        return code
