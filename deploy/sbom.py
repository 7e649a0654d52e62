"""Writes the image's bill of materials, CycloneDX 1.6, from its pinned requirements: sbom.py REQUIREMENTS > FILE.

It lists the Python packages with their hashes. The base's own packages are in its package manager's list.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

PINNED = re.compile(
    r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(?: ; ([^\\\n]+?))?(?: \\)?\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)",
    re.MULTILINE,
)


def component(name: str, version: str, marker: str, hashes: str) -> dict[str, Any]:
    """Describe a package; the hashes are those of all its files, one of which was installed."""
    identifier = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
    made = {
        "type": "library",
        "bom-ref": identifier,
        "name": name,
        "version": version,
        "purl": identifier,
        "hashes": [{"alg": "SHA-256", "content": each} for each in re.findall(r"[0-9a-f]{64}", hashes)],
    }
    return made | ({"properties": [{"name": "marker", "value": marker}]} if marker else {})


def bill(requirements: str) -> dict[str, Any]:
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": "parcel-service", "name": "parcel-service"}},
        "components": [component(*found) for found in PINNED.findall(requirements)],
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(bill(Path(sys.argv[1]).read_text()), indent=1))
