"""The mutants fit the code as it is; `make drill` shows that each is caught."""

import ast
import shutil
from pathlib import Path

import pytest

from tests.drills.edges.acts import ACTS
from tests.drills.mutants import MUTANTS, PLAYED, Mutant
from tests.support.processes import ROOT


def copy_of_its_file(mutant: Mutant, folder: Path) -> Path:
    file = folder / mutant.path
    file.parent.mkdir(parents=True)
    shutil.copy(ROOT / mutant.path, file)
    return file


def meant(file: Path) -> str:
    """Return what a change must change: code without its comments, or a table."""
    text = file.read_text()
    return ast.dump(ast.parse(text)) if file.suffix == ".py" else text


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_code_that_is_there_and_names_an_act(mutant: Mutant, tmp_path: Path) -> None:
    file = copy_of_its_file(mutant, tmp_path)
    before = meant(file)
    mutant.apply(tmp_path)
    assert meant(file) != before
    assert mutant.act in {*ACTS, *PLAYED}
