"""A new user's first half hour with the demonstration, in Python and in PHP, written from the guide alone."""

import os
import sys
from pathlib import Path

from tests.docs.conftest import Demo
from tests.support.processes import free_port
from tests.support.programs import PHP, Process, needs

HERE = Path(__file__).parent
WALK = """\
point: Presse Saint-Jean
check: ok
bought: label_generated
webhook: genuine
cancel: cancelled
missed: label.cancelled
listed: 0
"""


def test_a_new_user_of_python_does_all_of_it(demo: Demo) -> None:
    assert demo.read([sys.executable, "-W", "error", str(HERE / "half_hour.py")], ORDER="half-hour-python") == WALK


@needs("php", PHP)
def test_a_new_user_of_php_does_all_of_it(demo: Demo, tmp_path: Path) -> None:
    program, port = str(HERE / "half_hour.php"), free_port()
    command = [str(PHP), "-S", f"127.0.0.1:{port}", program]
    environment = {"PATH": os.environ["PATH"], "FOLDER": str(tmp_path)}
    with Process(command, environment, tmp_path / "receiver.log", port=port):
        hooks = f"http://127.0.0.1:{port}/hooks"
        assert demo.read([str(PHP), program], ORDER="half-hour-php", FOLDER=str(tmp_path), HOOKS=hooks) == WALK
