"""Stands in for systemd: starts and stops what the units of deploy/systemd name, for a script that calls systemctl."""

import os
import shlex
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import orjson

from tests.support.programs import Process

PROGRAM = "/srv/parcel-service"  # in the units
SYSTEMCTL = """#!/bin/sh
echo "$*" >{folder}/commands && read -r code <{folder}/codes && exit "$code"
"""


class Systemd:
    """Units in `folder`/units, the program in `folder`/srv, and a systemctl in `folder`/bin."""

    def __init__(self, folder: Path, stack: ExitStack, before_restart: Callable[[str], None]) -> None:
        self.folder, self.stack, self.before_restart = folder, stack, before_restart
        self.log = folder / "journal"
        self.processes: dict[str, Process] = {}
        self.faults: list[str] = []
        for name in ("commands", "codes"):
            os.mkfifo(folder / name)
        (folder / "bin").mkdir()
        (folder / "units").mkdir()
        systemctl = folder / "bin" / "systemctl"
        systemctl.write_text(SYSTEMCTL.format(folder=folder))
        systemctl.chmod(0o755)
        threading.Thread(target=self.obey, daemon=True).start()

    @property
    def variables(self) -> dict[str, str]:
        """The variables by which a script finds all this."""
        return {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PROGRAM": str(self.folder / "srv"),
            "UNITS": str(self.folder / "units"),
            "SETTINGS": str(self.folder / "settings.env"),
        }

    def obey(self) -> None:
        """Run the script's commands one after another."""
        while True:
            words = (self.folder / "commands").read_text().split()
            try:
                code = self.run(*words)
            except Exception as error:  # noqa: BLE001 - the script has to end
                self.faults.append(f"systemctl {words}: {error!r}")
                code = 1
            (self.folder / "codes").write_text(f"{code}\n")

    def run(self, verb: str, unit: str = "") -> int:
        if verb == "restart":
            self.before_restart(unit)
        if verb in ("stop", "restart") and unit in self.processes:
            code = self.processes.pop(unit).stop()
            if code not in (0, -signal.SIGTERM):  # both are clean to systemd
                self.faults.append(f"{unit}: exit code {code}")
        return self.start(unit) if verb in ("start", "restart") else 0

    def start(self, unit: str) -> int:
        """Run a unit's command in its folder; wait for its end if it is a oneshot."""
        own = self.read(f"{unit}.service")
        folder = Path(self.read("parcel-.service.d/parcels.conf")["WorkingDirectory"]).resolve()
        command = Process(shlex.split(own["ExecStart"]), os.environ, self.log, cwd=folder)
        process = self.stack.enter_context(command)
        if own["Type"] == "oneshot":
            return process.popen.wait()
        self.processes[unit] = process
        return 0

    def read(self, name: str) -> dict[str, str]:
        text = (self.folder / "units" / name).read_text().replace(PROGRAM, str(self.folder / "srv"))
        return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and line[0] != "#")

    def errors(self) -> Iterator[str]:
        """Yield the journal's lines that tell of an error."""
        for line in self.log.read_bytes().splitlines():
            try:
                level = orjson.loads(line)["level"]
            except orjson.JSONDecodeError:
                level = "ERROR" if line.startswith(b"Traceback") else ""
            if level in ("ERROR", "CRITICAL"):
                yield line.decode()
