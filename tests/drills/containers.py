"""Containers of the image, run by podman or docker."""

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.deployment import Service


class Engine:
    """podman or docker, with the options that every container gets."""

    def __init__(self, command: str, image: str, options: str) -> None:
        self.command = shlex.split(command)
        self.image = image
        self.options = ["--network", "host", *shlex.split(options)]
        if "podman" in self.command[0]:
            self.options.append("--read-only-tmpfs=false")  # docker makes nothing writable that the file does not name

    def ask(self, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run([*self.command, *arguments], input=stdin, capture_output=True, text=True, check=False)

    def show(self, *arguments: str) -> str:
        done = self.ask(*arguments)
        assert not done.returncode, done.stderr
        return done.stdout.strip()

    def run(self, service: Service, *arguments: str, stdin: str = "") -> str:
        """Run a command in place of the service's own; return what it prints."""
        done = self.ask("run", "--rm", "--interactive", *self.flags(service), self.image, *arguments, stdin=stdin)
        assert not done.returncode, f"{arguments} ended with {done.returncode}: {done.stderr}"
        return done.stdout.strip()

    def flags(self, service: Service) -> list[str]:
        return [*self.options, *service.restrictions(), *service.environment_flags()]

    @contextmanager
    def started(self, service: Service) -> Iterator[str]:
        """Start the service's own command; yield the container."""
        entrypoint, arguments = service.command()
        name = self.show("run", "--detach", *self.flags(service), *entrypoint, self.image, *arguments)
        try:
            yield name
        finally:
            self.ask("rm", "--force", name)

    def stop(self, name: str) -> int:
        """Ask it to end (SIGTERM); return its exit code."""
        self.show("stop", name)
        return int(self.show("inspect", "--format", "{{.State.ExitCode}}", name))
