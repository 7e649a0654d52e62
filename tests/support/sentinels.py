"""A Redis with a replica, and three sentinels that watch both."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import redis

from tests.support.processes import free_port
from tests.support.programs import Process
from tests.support.services import redis_executable
from tests.support.waiting import until


class Redis(Process):
    """A Redis, or a sentinel, of its own."""

    def __init__(self, folder: Path, port: int, lines: list[str], *, is_sentinel: bool = False) -> None:
        folder.mkdir()
        config = folder / "redis.conf"
        config.write_text("\n".join([f"port {port}", "bind 127.0.0.1", f"dir {folder}", *lines]))
        command = [redis_executable(), str(config), *(["--sentinel"] if is_sentinel else [])]
        super().__init__(command, os.environ, folder / "log", port=port)

    def ask(self, *command: str) -> Any:
        with redis.Redis(port=self.port) as client:
            return client.execute_command(*command)

    def wait_for(self, *command: str, answer: Callable[[Any], object]) -> None:
        """Ask until the answer is one that `answer` is true of."""

        def is_so() -> object:
            try:
                return answer(self.ask(*command))
            except redis.RedisError:
                return False

        until(is_so)


class World:
    """A master, its replica and three sentinels."""

    def __init__(self, folder: Path, stack: ExitStack, down_after_ms: int = 60_000) -> None:
        ports = [free_port() for _ in range(5)]
        keep_nothing = ['save ""', "appendonly no"]
        follow = [f"replicaof 127.0.0.1 {ports[0]}", "repl-diskless-sync yes", "repl-diskless-sync-delay 0"]
        self.servers = [
            stack.enter_context(Redis(folder / f"redis-{number}", ports[number], [*keep_nothing, *lines]))
            for number, lines in enumerate(([], follow))
        ]
        self.servers[1].wait_for("ROLE", answer=lambda role: role[3] == b"connected")
        watch = [
            f"sentinel monitor main 127.0.0.1 {ports[0]} 2",
            f"sentinel down-after-milliseconds main {down_after_ms}",
            f"sentinel failover-timeout main {5 * down_after_ms}",
        ]
        self.sentinels = [
            stack.enter_context(Redis(folder / f"sentinel-{port}", port, watch, is_sentinel=True)) for port in ports[2:]
        ]
        for sentinel in self.sentinels:
            sentinel.wait_for("PING", answer=bool)
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports[2:])
        self.url = f"redis+sentinel://{hosts}/main/1"

    def wait_for_discovery(self) -> None:
        """Let the sentinels find the replica and each other, without which they can't fail over."""
        for sentinel in self.sentinels:
            sentinel.wait_for("SENTINEL", "REPLICAS", "main", answer=lambda found: len(found) == 1)
            sentinel.wait_for("SENTINEL", "SENTINELS", "main", answer=lambda found: len(found) == 2)
