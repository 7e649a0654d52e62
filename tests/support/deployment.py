"""Reads deploy/: the services of compose.yaml and the objects of the manifests."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent.parent
COMPOSE = ROOT / "deploy" / "compose.yaml"
KUBERNETES = ROOT / "deploy" / "kubernetes"
OURS = "parcel-service"  # the image's name
VARIABLE = re.compile(r"\$\{(\w+)(?::(\?|-)([^}]*))?\}")


@dataclass(frozen=True)
class Service:
    name: str
    definition: dict[str, Any]

    @property
    def is_ours(self) -> bool:
        return str(self.definition["image"]).startswith(OURS)

    @property
    def environment(self) -> dict[str, str]:
        return dict(self.definition.get("environment", {}))

    def command(self) -> tuple[list[str], list[str]]:
        """The flags before the image, and the arguments after it."""
        words = self.definition.get("entrypoint", [])
        return (["--entrypoint", words[0]] if words else []), [*words[1:], *self.definition.get("command", [])]

    def health_command(self) -> list[str]:
        """The health check's words, at the port that the service listens on."""
        words = self.definition["healthcheck"]["test"][1:]
        return [word.replace(":8000/", f":{self.environment.get('SERVE_PORT', '8000')}/") for word in words]

    def environment_flags(self) -> list[str]:
        return [word for name, value in self.environment.items() for word in ("--env", f"{name}={value}")]

    def restrictions(self) -> list[str]:
        """Return the container's restrictions as flags of docker and podman."""
        stop_s = str(self.definition.get("stop_grace_period", "10s")).removesuffix("s")
        flags = ["--memory", self.definition["mem_limit"], "--stop-timeout", stop_s]
        flags += ["--read-only"] if self.definition["read_only"] else []
        flags += ["--init"] if self.definition["init"] else []
        for name in ("cap_drop", "security_opt", "tmpfs"):
            flag = f"--{name.replace('_', '-')}"
            flags += [word for value in self.definition[name] for word in (flag, value)]
        return flags


def compose_services(variables: Mapping[str, str], changed: dict[str, str]) -> dict[str, Service]:
    """Read the services with `variables` filled in; `changed` settings take the place of ours. Raise KeyError."""

    def value(match: re.Match[str]) -> str:
        name, kind, default = match.groups()
        return variables.get(name) or default if kind == "-" else variables[name]

    found = yaml.safe_load(VARIABLE.sub(value, COMPOSE.read_text()))["services"]
    services = {name: Service(name, definition) for name, definition in found.items()}
    for service in services.values():
        if service.is_ours:
            [file] = service.definition["env_file"]
            service.definition["environment"] = settings_in(COMPOSE.parent / file) | service.environment | changed
    return services


def settings_in(file: Path) -> dict[str, str]:
    """Read a file of NAME=value lines."""
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def manifests() -> Iterator[dict[str, Any]]:
    """The objects of the base."""
    for file in sorted((KUBERNETES / "base").glob("*.yaml")):
        if file.name != "kustomization.yaml":
            yield from yaml.safe_load_all(file.read_text())


def deployed(settings: Mapping[str, str]) -> Service:
    """The Deployment's container as a service of compose.yaml would have it; `settings` give way to its own."""
    pod = next(found for found in manifests() if found["kind"] == "Deployment")["spec"]["template"]["spec"]
    [container] = pod["containers"]
    security = container["securityContext"]
    page = f"http://127.0.0.1:8000{container['readinessProbe']['httpGet']['path']}"
    ports = {name: settings[name] for name in ("SERVE_PORT", "METRICS_PORT") if name in settings}
    definition = {
        "image": container["image"],
        "command": container["args"],
        "environment": dict(settings) | {each["name"]: each["value"] for each in container["env"]} | ports,
        "healthcheck": {"test": ["CMD", "python", "-c", f"from urllib.request import urlopen; urlopen('{page}')"]},
        "read_only": security["readOnlyRootFilesystem"],
        "init": False,
        "cap_drop": security["capabilities"]["drop"],
        "security_opt": [] if security["allowPrivilegeEscalation"] else ["no-new-privileges:true"],
        "tmpfs": [mount["mountPath"] for mount in container["volumeMounts"]],
        "mem_limit": container["resources"]["limits"]["memory"].removesuffix("i").lower(),
        "stop_grace_period": f"{pod['terminationGracePeriodSeconds']}s",
    }
    return Service("deployment", definition)
