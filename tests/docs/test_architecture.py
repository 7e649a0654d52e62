"""docs/architecture.md: what its index names is where it says."""

import re

from tests.support.cases import in_one_test
from tests.support.processes import ROOT

INDEX = re.compile(r"^\| (.+\?) \| `(\S+)`: `(\w+)` \|$", re.MULTILINE)
ROWS = INDEX.findall((ROOT / "docs" / "architecture.md").read_text())


def test_the_index_answers_thirty_questions() -> None:
    assert len(ROWS) == 30


@in_one_test("question, path, name", ROWS)
def test_what_a_question_is_about_is_declared_where_the_index_says(question: str, path: str, name: str) -> None:
    declared = re.compile(rf"^( *(def|class) |    |\W*){name}\b", re.MULTILINE)
    assert declared.search((ROOT / path).read_text()), question
