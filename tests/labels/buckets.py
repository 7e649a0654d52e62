"""A real S3 server, which refuses altered and expired URLs: MiniStack, in a virtual environment of its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from pytest_django.fixtures import Settings

from tests.support.processes import ROOT, free_port
from tests.support.programs import Process

SERVER = ROOT / ".venv-s3" / "bin" / "python"
KEY_ID = SECRET = "test"  # the only pair it knows
REGION = "eu-west-3"


@dataclass(frozen=True)
class Bucket:
    """A private bucket."""

    endpoint_url: str
    name: str

    @property
    def environment(self) -> dict[str, str]:
        """The settings of an operator."""
        return {
            "LABELS_BUCKET": self.name,
            "AWS_S3_ENDPOINT_URL": self.endpoint_url,
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": REGION,
        }


def keep_in(settings: Settings, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep PDFs where an operator who sets this environment keeps them."""
    from config.settings import label_storage  # noqa: PLC0415 - a drill imports this before it has any settings

    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings.STORAGES = settings.STORAGES | {"labels": label_storage(environment["LABELS_BUCKET"])}


def client(endpoint_url: str, secret: str = SECRET) -> Any:
    config = Config(signature_version="s3v4", s3={"addressing_style": "path"})
    return boto3.client(
        "s3",
        endpoint_url=endpoint_url,
        region_name=REGION,
        aws_access_key_id=KEY_ID,
        aws_secret_access_key=secret,
        config=config,
    )


@contextmanager
def s3_server(folder: Path) -> Iterator[Bucket]:
    """Run the server with its files in `folder`; yield a bucket in it."""
    if not SERVER.exists():
        raise pytest.UsageError("the S3 server is missing: `make .venv-s3/.done` (or `make test`) installs it")
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "AUTH": "true",
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "SERVICES": "s3",
        "S3_DATA_DIR": str(folder / "s3"),
    }
    with Process([SERVER, "-m", "ministack"], environment, folder / "log", port=port, cwd=folder):
        bucket = Bucket(f"http://127.0.0.1:{port}", "labels")
        made = client(bucket.endpoint_url)
        made.create_bucket(Bucket=bucket.name, CreateBucketConfiguration={"LocationConstraint": REGION})
        made.close()
        yield bucket
