"""The description as a Postman collection (v2.1): each example of each operation is a request."""

from collections.abc import Iterator
from typing import Any, Final

import orjson

from config.docs.openapi.views import as_json

Json = dict[str, Any]

SCHEMA: Final = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
TOKEN: Final = {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}", "type": "string"}]}


def postman(url: str) -> Json:
    """Return the collection; who imports it puts a token into its variable."""
    description = orjson.loads(as_json())
    tags = [tag["name"] for tag in description["tags"]]
    items = [(operation["tags"][0], item) for operation, item in requests(description)]
    folders = [{"name": tag, "item": [item for its_tag, item in items if its_tag == tag]} for tag in tags]
    info = description["info"]
    return {
        "info": {"name": info["title"], "description": info["description"], "schema": SCHEMA},
        "auth": TOKEN,
        "variable": [{"key": "url", "value": url}, {"key": "token", "value": ""}],
        "item": [folder for folder in folders if folder["item"]],
    }


def requests(description: Json) -> Iterator[tuple[Json, Json]]:
    """Yield each operation's requests: one for each example of its body, or one alone."""
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            for example_name, example in content.get("examples", {"": {}}).items():
                name = ": ".join(filter(None, (operation["summary"], example.get("summary"))))
                made = request(path, method, operation, example.get("value"))
                for header in made["header"]:
                    if header["key"] == "Idempotency-Key":  # sent twice, it buys once
                        header["value"] = f"postman-{example_name}"
                yield operation, {"name": name, "request": made}


def request(path: str, method: str, operation: Json, body: Json | None) -> Json:
    parameters = operation.get("parameters", [])
    steps = [f":{step[1:-1]}" if step.startswith("{") else step for step in path.strip("/").split("/")]
    url: Json = {"raw": "{{url}}/" + "/".join(steps), "host": ["{{url}}"], "path": steps}
    url["variable"] = [variable(each) for each in parameters if each["in"] == "path"]
    # Those that are not needed are there, to be ticked; a search needs one of its own.
    url["query"] = [
        variable(each) | {"disabled": not each.get("required") and each["name"] != "orderName"}
        for each in parameters
        if each["in"] == "query"
    ]
    made: Json = {"method": method.upper(), "url": url, "description": operation["description"]}
    made["header"] = [variable(each) for each in parameters if each["in"] == "header"]
    if body is not None:
        text = orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()
        made["header"].append({"key": "Content-Type", "value": "application/json"})
        made["body"] = {"mode": "raw", "raw": text, "options": {"raw": {"language": "json"}}}
    return made if operation["security"] != [{}] else made | {"auth": {"type": "noauth"}}


def variable(parameter: Json) -> Json:
    value = next(iter(parameter["examples"].values()))["value"]
    return {"key": parameter["name"], "value": str(value), "description": parameter["description"]}
