"""What drf-spectacular can't say of a success: how long an array gets, and which requests follow from an answer."""

from typing import Any, Final

from parcels.queries import SEARCH_LIMIT

Json = dict[str, Any]

# What an answer is good for next, by the operation it comes from.
LINKS: Final[dict[str, Json]] = {
    "lookUpParcel": {
        "parcelsOfTheSameOrder": {
            "operationId": "searchParcels",
            "parameters": {"orderName": "$response.body#/orderNumber"},
            "description": "The other parcels of the order.",
        }
    },
    "buyLabel": {
        "labelAgain": {
            "operationId": "retrieveLabel",
            "parameters": {"labelId": "$response.body#/id"},
            "description": "The same label later, with a fresh URL.",
        }
    },
}


def add_success(document: Json) -> None:
    """Complete the successes of what drf-spectacular generates."""
    for path in document["paths"].values():
        for operation in path.values():
            name, (answer,) = operation["operationId"], operation["responses"].values()
            if name in LINKS:
                answer["links"] = LINKS[name]
            if name == "searchParcels":
                answer["content"]["application/json"]["schema"]["maxItems"] = SEARCH_LIMIT
