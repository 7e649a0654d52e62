"""Composes the description of `source.yaml`, the serializers and the table of errors; a test compares."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from config import __version__
from config.docs.generated_tables import products
from config.docs.openapi import schemas
from config.docs.openapi.responses import answers
from config.docs.openapi.webhooks import webhooks
from shops.api.errors.coded import CODES

Json = dict[str, Any]
SOURCE: Final = Path(__file__).with_name("source.yaml")
# The methods that a path with this operation takes, as `Allow` lists them.
METHODS: Final = {"get": "GET, HEAD", "post": "POST", "patch": "PATCH", "delete": "DELETE"}


class Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are, and each value in full."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


@cache
def source() -> Json:
    loaded: Json = yaml.safe_load(SOURCE.read_bytes())
    return loaded


def example(name: str) -> Json:
    found: Json = source()["examples"][name]
    return found


def generate() -> Json:
    kept = {name: part for name, part in source().items() if name not in {"types", "webhook", "examples", "security"}}
    version = {"description": kept["info"]["description"].replace("{version}", __version__)}
    paths = {path: dict(operations(methods)) for path, methods in kept["paths"].items()}
    made = schemas.compose(kept["components"]["schemas"])
    made["ErrorCode"] |= {
        "enum": list(CODES),
        "description": "\n".join(f"* {entry.explanation}" for entry in CODES.values()),
    }
    components, told = kept["components"] | {"schemas": made}, webhooks(source()["webhook"])
    return kept | {"info": kept["info"] | version, "paths": paths, "components": components, "webhooks": told}


def operations(path: Json) -> Iterator[tuple[str, Json]]:
    methods = ", ".join(METHODS[method] for method in path)
    for method, operation in path.items():
        made = {"security": source()["security"]} | operation
        made["description"] = made["description"].replace("{products}", products())
        made["parameters"] = [one for each in made.get("parameters", ()) for one in schemas.parameters(each)]
        made["responses"] = answers(made, methods)
        del made["errors"]
        yield method, {name: part for name, part in made.items() if part}


def as_yaml(document: Json) -> bytes:
    return yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True, encoding="utf-8")
