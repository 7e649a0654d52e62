"""The files of deploy/ agree with the service: settings, commands, ports, timeouts."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kubernetes_validate
import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands

from tests.support.deployment import COMPOSE, KUBERNETES, ROOT, VARIABLE, compose_services, manifests, settings_in

DEPLOY = COMPOSE.parent
# The variables that the settings read.
NAMES = {
    name
    for file in (ROOT / "config").glob("*.py")
    for name in re.findall(r"\"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)\"", file.read_text())
}
REQUIRED = {"SECRET_KEY", "ALLOWED_HOSTS", "CREDENTIALS_KEYS", "DATABASE_URL", "REDIS_URL", "LABELS_BUCKET"}
OBJECTS = list(manifests())
PODS = ["Deployment", "Deployment", "Job"]


@pytest.fixture(scope="module")
def env_file() -> dict[str, str]:
    """The output of ``new-secrets.sh``."""
    words = ["parcels.example.com", "labels.example.com"]
    written = subprocess.run([DEPLOY / "new-secrets.sh", *words], capture_output=True, text=True, check=True).stdout
    return dict(line.split("=", 1) for line in written.splitlines())


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [found for found in OBJECTS if found["kind"] == kind]


def pods() -> list[dict[str, Any]]:
    """The pod templates, in the order of `PODS`."""
    return [found["spec"]["template"] for found in [*of_kind("Deployment"), *of_kind("Job")]]


def deployment() -> dict[str, Any]:
    pod: dict[str, Any] = pods()[0]["spec"]
    return pod


def selects(selector: dict[str, Any], pod: dict[str, Any]) -> bool:
    labels = selector.get("matchLabels", selector)
    return bool(labels.items() <= pod["metadata"]["labels"].items())


# --- compose.yaml ---


def test_nothing_starts_without_its_secrets() -> None:
    with pytest.raises(KeyError):
        compose_services({}, {})
    text = COMPOSE.read_text()
    with_default = {name for name, kind, _ in VARIABLE.findall(text) if kind != "?"}
    assert with_default == {"IMAGE", "SERVE_WORKERS", "BACKUPS", "LABEL_BACKUPS"}


def test_new_secrets_writes_what_compose_asks_for_and_no_secret_twice(env_file: dict[str, str]) -> None:
    asked = {name for name, kind, _ in VARIABLE.findall(COMPOSE.read_text()) if kind == "?"}
    assert set(env_file) == asked
    assert len(set(env_file.values())) == len(env_file)


def test_no_secret_is_empty_where_openssl_is_missing(tmp_path: Path) -> None:
    for name in ("bash", "cat", "tr"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    command: list[str | Path] = [DEPLOY / "new-secrets.sh", "parcels.example.com", "labels.example.com"]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (127, "")
    assert re.fullmatch(r".*openssl: .*not found\n", done.stderr)


def test_a_start_with_other_names_than_before_is_refused(tmp_path: Path) -> None:
    shutil.copytree(DEPLOY, tmp_path / "deploy", ignore=shutil.ignore_patterns(".env"))
    environment = {"PATH": os.environ["PATH"], "COMPOSE": "echo", "ENGINE": "echo"}

    def start(*words: str) -> tuple[int, str]:
        command: list[str | Path] = [tmp_path / "deploy/start.sh", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    for _ in range(2):
        assert start("parcels.example.com", "labels.example.com") == (0, "")
    told = "deploy/.env has another SERVICE_HOST or LABELS_HOST: change it there, and run this again\n"
    assert start("parcels.example.org", "labels.example.com") == (2, told)
    assert start("parcels.example.com", "labels.example.org") == (2, told)


def test_the_image_has_all_it_needs_to_accept_what_compose_gives_it(env_file: dict[str, str], tmp_path: Path) -> None:
    copy_build_context(tmp_path)
    (tmp_path / "reportlab.py").write_text("raise ImportError('the demonstration has it, the image does not')")
    service = compose_services(env_file, {})["service"]
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    undecided = ("PARCELS", "LABEL_ADDRESSES", "LABEL_PDFS", "TOKENS")  # the start names them
    environment = service.environment | {f"KEEP_{what}_DAYS": "never" for what in undecided}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def copy_build_context(folder: Path) -> None:
    """Copy what ``.dockerignore`` lets a build see."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    for name in (line[1:] for line in lines if line.startswith("!")):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (folder / name).parent.mkdir(exist_ok=True)
        copy(ROOT / name, folder / name)
    for name in (line for line in lines if "/" in line and line[0] not in "*!"):
        (folder / name).unlink()


def test_compose_names_settings_and_commands_that_exist(env_file: dict[str, str]) -> None:
    ours = [service for service in compose_services(env_file, {}).values() if service.is_ours]
    assert {service.name for service in ours} == {"service", "spare", "migrate", "work"}
    for service in ours:
        assert set(service.environment) <= NAMES
        assert set(service.environment) >= REQUIRED
        _, [command] = service.command()
        assert command in get_commands()


def test_only_the_migration_knows_the_role_that_owns_the_tables(env_file: dict[str, str]) -> None:
    services = compose_services(env_file, {})
    urls = {service.name: service.environment["DATABASE_URL"] for service in services.values() if service.is_ours}
    roles = {name: urlsplit(url).username for name, url in urls.items()}
    assert roles == {"service": "parcels", "spare": "parcels", "work": "parcels", "migrate": "parcels_owner"}
    database = services["postgres"]
    assert urlsplit(urls["service"]).password == database.environment["SERVICE_PASSWORD"]
    assert urlsplit(urls["migrate"]).password == database.environment["OWNER_PASSWORD"]
    assert "./roles.sql:/docker-entrypoint-initdb.d/roles.sql:ro" in database.definition["volumes"]
    for service in services.values():
        own = {"postgres": {"OWNER_PASSWORD", "POSTGRES_PASSWORD"}, "migrate": {"DATABASE_URL"}}.get(
            service.name, set()
        )
        secrets = {env_file["POSTGRES_PASSWORD"], env_file["DATABASE_OWNER_PASSWORD"]}
        assert {name for name, value in service.environment.items() if any(each in value for each in secrets)} == own


def test_compose_restricts_every_container_of_the_image(env_file: dict[str, str]) -> None:
    for service in compose_services(env_file, {}).values():
        if service.is_ours:
            assert service.restrictions()[4:] == [
                *("--read-only", "--init", "--cap-drop", "ALL"),
                *("--security-opt", "no-new-privileges:true", "--tmpfs", "/tmp"),
            ]


def test_the_backup_has_a_role_of_its_own_which_may_copy_the_server(env_file: dict[str, str]) -> None:
    services = compose_services(env_file, {})
    backup, database = services["backup"], services["postgres"]
    assert backup.definition["image"] == database.definition["image"]  # the programs are of the server's version
    assert backup.environment["PGPASSWORD"] == database.environment["BACKUP_PASSWORD"]
    role = backup.environment["PGUSER"]
    assert f"ALTER ROLE {role} LOGIN REPLICATION " in (DEPLOY / "roles.sql").read_text()
    assert f"host replication {role} " in (DEPLOY / "replication.sh").read_text()


def test_a_restore_writes_where_the_database_is(env_file: dict[str, str]) -> None:
    services = compose_services(env_file, {})
    data = "database:/var/lib/postgresql/data"
    assert data in services["postgres"].definition["volumes"]
    assert data in services["restore"].definition["volumes"]
    assert services["restore"].definition["profiles"] == ["restore"]  # never by `up`
    assert services["postgres"].environment["PGDATA"] == "/var/lib/postgresql/data/pgdata"


@pytest.mark.parametrize("failing", ["restore restore", "nothing"])
def test_a_restore_stops_and_moves_nothing_before_the_new_database_is_there(failing: str, tmp_path: Path) -> None:
    calls, compose = tmp_path / "calls", tmp_path / "compose"
    compose.write_text(f'#!/bin/sh\necho "$*" >>{calls}\ncase "$*" in *"{failing}"*) exit 1 ;; esac\n')
    compose.chmod(0o700)
    environment = {"PATH": os.environ["PATH"], "COMPOSE": str(compose)}
    done = subprocess.run([DEPLOY / "restore.sh", "2026-11-22 14:30"], env=environment, check=False)
    made = calls.read_text().splitlines()
    assert made[1].endswith("restore restore /backups /var/lib/postgresql/data/restored 2026-11-22 14:30")
    if failing == "nothing":
        assert (done.returncode, made[-1].endswith("up --detach")) == (0, True)
        assert "mv restored pgdata" in next(call for call in made if "pgdata" in call)
    else:
        assert (done.returncode, len(made)) == (1, 2)
        assert not any(word in call for call in made for word in (" stop ", "pgdata", " up "))


def run_backup(*arguments: str | Path, **variables: str) -> tuple[int, str]:
    """Run backup.sh without a server; return its exit code and standard error."""
    environment = {"PATH": os.environ["PATH"], "TZ": "CET-1"} | variables
    command = [DEPLOY / "backup.sh", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup with a copy of 2026-01-01, in a folder whose name has a blank."""
    copy, server = tmp_path / "a backup/copies/20260101T000000.000000Z", tmp_path / "server"
    (server / "pg_wal").mkdir(parents=True)
    (copy / "data").mkdir(parents=True)
    for name in ("base", "pg_wal"):
        shutil.make_archive(str(copy / "data" / name), "gztar", server)
    (copy / "complete").touch()
    os.utime(copy / "complete", (1_767_225_600, 1_767_225_600))
    return tmp_path / "a backup"


@pytest.mark.parametrize("moment", ["22/11/2026 14h30", "yesterdy"])
def test_a_moment_that_is_none_restores_nothing(moment: str, backup: Path, tmp_path: Path) -> None:
    assert run_backup("restore", backup, tmp_path / "data", moment) == (1, f"date: invalid date '{moment}'\n")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("moment", ["2026-11-22 15:30", "2026-11-22T14:30:00Z", "22 Nov 2026 14:30 UTC", "@1795357800"])
def test_a_moment_is_the_same_for_the_choice_of_the_copy_and_for_postgresql(
    moment: str, backup: Path, tmp_path: Path
) -> None:
    assert run_backup("restore", backup, tmp_path / "data", moment) == (0, "")
    conf = (tmp_path / "data/postgresql.auto.conf").read_text()
    assert "recovery_target_time = '2026-11-22 15:30:00.000000+01:00'\n" in conf


@pytest.mark.parametrize("days", ["two", "1.5", "-1", "0"])
def test_a_backup_of_no_number_of_days_or_hours_does_not_begin(days: str, tmp_path: Path) -> None:
    told = f"is '{days}': needs a whole number, 1 or more\n"
    assert run_backup("now", tmp_path, KEEP_DAYS=days) == (2, f"KEEP_DAYS {told}")
    assert run_backup("run", tmp_path, days) == (2, f"HOURS {told}")
    assert list(tmp_path.iterdir()) == []


def test_compose_waits_longer_than_the_service_takes_to_stop(env_file: dict[str, str]) -> None:
    service = compose_services(env_file, {})["service"]
    stop_s = int(service.environment["STOP_TIMEOUT"])
    assert service.definition["stop_grace_period"] == f"{stop_s}s"
    assert settings.CARRIER_TIMEOUT < settings.GRACEFUL_TIMEOUT < stop_s


def test_work_is_given_as_long(env_file: dict[str, str]) -> None:
    work = compose_services(env_file, {})["work"]
    [pod] = (
        each["spec"]["template"]["spec"] for each in of_kind("Deployment") if each["metadata"]["name"].endswith("work")
    )
    assert work.definition["stop_grace_period"] == f"{settings.STOP_TIMEOUT}s"
    assert pod["terminationGracePeriodSeconds"] == settings.STOP_TIMEOUT


def test_the_proxy_finds_the_spare_under_the_services_name(env_file: dict[str, str]) -> None:
    spare, service = (compose_services(env_file, {})[name].definition for name in ("spare", "service"))
    assert (spare["profiles"], spare["ports"]) == (["upgrade"], [])  # never by `up`
    assert spare["networks"] == {name: {"aliases": ["service"]} for name in service["networks"]}
    changed = ("profiles", "ports", "networks")
    assert [name for name in spare if name not in changed and spare[name] != service[name]] == []


def test_ports_agree(env_file: dict[str, str]) -> None:
    service = compose_services(env_file, {})["service"]
    port, metrics = settings.SERVE_PORT, service.environment["METRICS_PORT"]
    assert f"EXPOSE {port}\n" in (DEPLOY / "Containerfile").read_text()
    assert f"reverse_proxy service:{port} " in (DEPLOY / "Caddyfile").read_text()
    assert f"http://127.0.0.1:{port}/readyz" in service.definition["healthcheck"]["test"][-1]
    assert service.definition["ports"] == [f"127.0.0.1:{metrics}:{metrics}"]


# --- The manifests ---


@pytest.mark.parametrize("version", ["1.30", "1.37"])
@pytest.mark.parametrize("found", OBJECTS, ids=lambda found: f"{found['kind']}-{found['metadata']['name']}")
def test_kubernetes_accepts(found: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(found, version, strict=True)


def test_the_base_names_every_manifest() -> None:
    listed = yaml.safe_load((KUBERNETES / "base" / "kustomization.yaml").read_text())["resources"]
    assert sorted([*listed, "kustomization.yaml"]) == sorted(file.name for file in (KUBERNETES / "base").iterdir())


def test_manifests_name_settings_and_commands_that_exist() -> None:
    given = settings_in(KUBERNETES / "example/settings.env") | settings_in(KUBERNETES / "example/secrets.env.example")
    assert REQUIRED <= set(given) <= NAMES
    for pod in pods():
        [container] = pod["spec"]["containers"]
        assert {each["name"] for each in container.get("env", [])} <= NAMES
        assert container["args"][0] in get_commands()
        sources = [source["name"] for each in container["envFrom"] for source in each.values()]
        assert sources == ["parcel-service-settings", "parcel-service-secrets"]


def test_the_migration_alone_has_the_url_of_the_role_that_owns_the_tables() -> None:
    for pod in pods():
        [container] = pod["spec"]["containers"]
        asked = [each["valueFrom"] for each in container.get("env", []) if "valueFrom" in each]
        wanted = {"secretKeyRef": {"name": "parcel-service-migration", "key": "DATABASE_URL"}}
        assert asked == ([wanted] if container["name"] == "migrate" else [])
    assert settings_in(KUBERNETES / "example/migration.env.example") == {"DATABASE_URL": ""}
    made = yaml.safe_load((KUBERNETES / "example/kustomization.yaml").read_text())["secretGenerator"]
    assert [each["name"] for each in made] == ["parcel-service-secrets", "parcel-service-migration"]


def test_the_namespace_refuses_pods_with_more_rights() -> None:
    namespace = yaml.safe_load((KUBERNETES / "example/namespace.yaml").read_text())
    kubernetes_validate.validate(namespace, "1.37", strict=True)
    modes = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
    assert namespace["metadata"]["labels"] == modes
    example = yaml.safe_load((KUBERNETES / "example/kustomization.yaml").read_text())
    assert namespace["metadata"]["name"] == example["namespace"]
    assert "namespace.yaml" in example["resources"]


def test_no_manifest_holds_a_secret() -> None:
    assert not of_kind("Secret")
    assert set(settings_in(KUBERNETES / "example/secrets.env.example").values()) == {""}


@pytest.mark.parametrize("position", range(len(PODS)), ids=PODS)
def test_every_pod_is_restricted(position: int) -> None:
    pod = pods()[position]["spec"]
    [container] = pod["containers"]
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert (pod["automountServiceAccountToken"], pod["enableServiceLinks"]) == (False, False)
    assert "memory" in container["resources"]["limits"]
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/tmp"]


def test_kubernetes_waits_longer_than_the_service_takes_to_stop() -> None:
    [container] = deployment()["containers"]
    environment = {each["name"]: each["value"] for each in container["env"]}
    _, pause_s = container["lifecycle"]["preStop"]["exec"]["command"]
    stop_s = int(environment["STOP_TIMEOUT"])
    assert deployment()["terminationGracePeriodSeconds"] == stop_s + int(pause_s)
    assert settings.CARRIER_TIMEOUT < settings.GRACEFUL_TIMEOUT < stop_s


def test_probes_services_and_policies_use_the_ports_of_the_container() -> None:
    [container] = deployment()["containers"]
    environment = {each["name"]: each["value"] for each in container["env"]}
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports == {"http": settings.SERVE_PORT, "metrics": int(environment["METRICS_PORT"])}
    for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[kind]["httpGet"]["port"] == "http"
    assert [each["targetPort"] for each in of_kind("Service")[0]["spec"]["ports"]] == ["http"]
    assert all(rule["from"] for policy in of_kind("NetworkPolicy") for rule in policy["spec"].get("ingress", []))
    ingress = [rule for policy in of_kind("NetworkPolicy") for rule in policy["spec"].get("ingress", [])]
    assert [each["port"] for rule in ingress for each in rule["ports"]] == ["http", "metrics", "metrics"]


def test_requests_go_to_the_deployments_pods_and_to_no_other() -> None:
    web, *others = pods()
    [service], [budget] = of_kind("Service"), of_kind("PodDisruptionBudget")
    for selector in (
        of_kind("Deployment")[0]["spec"]["selector"],
        service["spec"]["selector"],
        budget["spec"]["selector"],
    ):
        assert selects(selector, web)
        assert not any(selects(selector, pod) for pod in others)
    outgoing = of_kind("NetworkPolicy")[0]["spec"]["podSelector"]
    assert all(selects(outgoing, pod) for pod in pods())


def test_a_release_replaces_no_pod_before_the_next_one_is_ready() -> None:
    rolling = of_kind("Deployment")[0]["spec"]["strategy"]["rollingUpdate"]
    assert rolling == {"maxUnavailable": 0, "maxSurge": 1}


# --- The image ---


def test_metrics_of_the_background_process_are_where_they_are_scraped(env_file: dict[str, str]) -> None:
    work = compose_services(env_file, {})["work"]
    port = work.environment["WORK_METRICS_PORT"]
    assert work.definition["ports"] == [f"127.0.0.1:{port}:{port}"]
    [container] = pods()[1]["spec"]["containers"]
    environment = {each["name"]: each["value"] for each in container["env"]}
    assert container["ports"] == [{"name": "metrics", "containerPort": int(environment["WORK_METRICS_PORT"])}]


def test_the_image_starts_the_service_as_an_account_without_rights() -> None:
    *_, final = (DEPLOY / "Containerfile").read_text().split("\nFROM ")
    assert "USER 10001:10001\n" in final
    assert 'ENTRYPOINT ["python", "manage.py"]\nCMD ["serve"]\n' in final  # signals reach the server, through no shell
    assert "STOPSIGNAL SIGTERM\n" in final


def test_the_image_has_every_package_of_the_service() -> None:
    containerfile, seen = (DEPLOY / "Containerfile").read_text(), (ROOT / ".dockerignore").read_text().splitlines()
    packages = {file.parent.name for file in ROOT.glob("*/__init__.py")} - {"deploy", "tests"}
    assert packages >= {"config", "shops", "parcels", "carriers", "labels"}
    for package in packages:
        assert f"COPY {package} /app/{package}/\n" in containerfile
        assert f"!{package}" in seen
