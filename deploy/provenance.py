"""Writes how the image was built, an in-toto Statement with SLSA provenance: provenance.py IMAGE DIGEST > FILE.

DIGEST is that of the pushed manifest (``buildah push --digestfile``). The commit is the repository's, the base what
buildah has written into the image. The same build gives the same text; it is not signed, the release's tag is.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BUILDER = "urn:parcel-service:deploy/build.sh"
BASE = "org.opencontainers.image.base."
# What decides which packages are in the image.
PINS = ("deploy/Containerfile", "deploy/base-packages.txt", "requirements.txt")


def statement(image: str, digest: str, *, commit: str, epoch: int, base: dict[str, str]) -> dict[str, Any]:
    """Describe a build: digests as ``sha256:...``, `epoch` in Unix seconds, `base` with the name and the digest."""
    pins = [
        {"name": name, "digest": {"sha256": hashlib.sha256((ROOT / name).read_bytes()).hexdigest()}} for name in PINS
    ]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": image, "digest": sha256(digest)}],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{BUILDER}/v1",
                "externalParameters": {"commit": commit, "SOURCE_DATE_EPOCH": epoch, "BASE": base["name"]},
                "resolvedDependencies": [
                    {"name": "source", "digest": {"gitCommit": commit}},
                    {"name": base["name"], "digest": sha256(base["digest"])},
                    *pins,
                ],
            },
            "runDetails": {"builder": {"id": BUILDER}},
        },
    }


def sha256(digest: str) -> dict[str, str]:
    return {"sha256": digest.removeprefix("sha256:")}


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - fixed words


def main() -> None:
    image, digest = sys.argv[1:]
    commit, epoch = output("git", "log", "-1", "--format=%H %ct").split()
    template = '{{index .ImageAnnotations "%s"}}'
    base = {
        part: output("buildah", "inspect", "--type", "image", "--format", template % (BASE + part), image)
        for part in ("name", "digest")
    }
    json.dump(statement(image, digest, commit=commit, epoch=int(epoch), base=base), sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
