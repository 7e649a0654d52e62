"""`make lint` finds a key by its form, in whatever line of a file it stands."""

import subprocess
import sys
from pathlib import Path

from tests.support.processes import ROOT

KEYS = ["AKIA" + "J" * 16, "ghp_" + "a" * 36, "-----BEGIN RSA" + " PRIVATE KEY-----", 'token = "AKC' + "p" * 20 + '"']


def found(*files: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "tests.secrets", *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_each_key_is_found_with_its_file_and_line_and_nothing_else(tmp_path: Path) -> None:
    made_up, picture = tmp_path / "made_up.py", tmp_path / "picture.png"
    made_up.write_text('password = "255562"\n')
    picture.write_bytes(b"\x89PNG")
    files = [tmp_path / f"{number}.py" for number in range(len(KEYS))]
    for file, key in zip(files, KEYS, strict=True):
        file.write_text(f'name = "é"\n{key}\n', encoding="utf-8")
    code, output = found(*files, made_up, picture, tmp_path / "removed.py")
    assert code == 1
    assert all(f"{file}:2" in output for file in files)
    assert output.count("Location:") == len(files)
    assert found(made_up) == (0, "")
