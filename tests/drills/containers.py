"""Containers of the image, run by podman or docker."""

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.deployment import Service


class Engine:
    """podman or docker, with the options of every container."""

    def __init__(self, command: str, image: str, options: str) -> None:
        self.command = shlex.split(command)
        self.image = image
        self.options = ["--network", "host", *shlex.split(options)]
        if "podman" in self.command[0]:
            self.options.append("--read-only-tmpfs=false")  # as with docker, only the declared tmpfs is writable

    def try_run(self, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run([*self.command, *arguments], input=stdin, capture_output=True, text=True, check=False)

    def output(self, *arguments: str) -> str:
        done = self.try_run(*arguments)
        assert not done.returncode, done.stderr
        return done.stdout.strip()

    def run(self, service: Service, *arguments: str, stdin: str = "") -> str:
        """Run another command than the service's own; return its output."""
        done = self.try_run("run", "--rm", "--interactive", *self.flags(service), self.image, *arguments, stdin=stdin)
        assert not done.returncode, f"{arguments} ended with {done.returncode}: {done.stderr}"
        return done.stdout.strip()

    def flags(self, service: Service) -> list[str]:
        return [*self.options, *service.restrictions(), *service.environment_flags()]

    @contextmanager
    def started(self, service: Service) -> Iterator[str]:
        """Start the service's own command; yield the container's name."""
        entrypoint, arguments = service.command()
        name = self.output("run", "--detach", *self.flags(service), *entrypoint, self.image, *arguments)
        try:
            yield name
        finally:
            self.try_run("rm", "--force", name)

    def stop(self, name: str) -> int:
        """Send SIGTERM to a container; return its exit code."""
        self.output("stop", name)
        return int(self.output("inspect", "--format", "{{.State.ExitCode}}", name))
