"""The sandbox's paths and their handlers."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from carriers.sandbox.alpha import points, products, shipping, tables, tracking
from carriers.sandbox.alpha.service import dispatch
from carriers.sandbox.beta.accounts import answer_delivery, answer_information
from carriers.sandbox.beta.deposit_slip import OPERATION as DEPOSIT_SLIP
from carriers.sandbox.beta.deposit_slip import answer_deposit_slip
from carriers.sandbox.beta.points import LOOK_UP, SEARCH, answer_points
from carriers.sandbox.beta.shipping import BLOCKS, BUY, CHECK, answer_beta
from carriers.sandbox.beta.timeline import answer_timeline
from carriers.sandbox.control import CONTROL_PATHS, answer_control
from carriers.sandbox.corruption import REDIRECTED_PATH
from carriers.sandbox.data import rows
from carriers.sandbox.faults import fault_table
from carriers.sandbox.http import MalformedError, Request, Response, json_response, text_response
from carriers.sandbox.journeys import JOURNEYS
from carriers.sandbox.state import State

SERVICES = rows("services.csv")
PATHS = {row["setting"]: row["path"] for row in SERVICES}  # by the setting that takes each one's URL
HELP = Template(Path(__file__).with_name("help.txt").read_text(encoding="utf-8"))
BETA: dict[str, Callable[[State, Request], Response]] = {
    **{f"{PATHS['BETA_POINTS_URL']}/{operation}": answer_points for operation in (SEARCH, LOOK_UP)},
    PATHS["BETA_ACCOUNT_URL"]: answer_information,
    PATHS["BETA_DELIVERY_URL"]: answer_delivery,
    PATHS["BETA_TRACKING_URL"]: answer_timeline,
    **{f"/beta/{version}/{DEPOSIT_SLIP}": answer_deposit_slip for version in BLOCKS},
    **{f"/beta/{version}/{operation}": answer_beta for version in BLOCKS for operation in (BUY, CHECK)},
}


def _answer_beta(state: State, request: Request) -> Response:
    """Answer for one of beta's services, each of which takes a POST of JSON."""
    if request.method != "POST":
        return json_response({"error": "Method Not Allowed", "message": "POST is expected"}, 405)
    try:
        return BETA[request.path](state, request)
    except MalformedError as error:
        status = 422 if request.operation == CHECK else 400
        return json_response({"error": "Bad Request", "message": str(error)}, status)


def urls(server_url: str) -> dict[str, str]:
    """Return the settings that connect a service."""
    return {name: server_url + path for name, path in PATHS.items()}


def _explain(state: State, request: Request) -> Response:
    settings = "\n".join(f"  {name}={url}" for name, url in urls(request.server_url).items())
    pace, journeys = f"{state.ledger.pace:g}", ", ".join(JOURNEYS)
    return text_response(HELP.substitute(settings=settings, pace=pace, journeys=journeys, faults=fault_table()))


HANDLERS: dict[str, Callable[[State, Request], Response]] = {
    "/": _explain,
    PATHS["ALPHA_URL"]: partial(dispatch, tables.SHIPPING, shipping.OPERATIONS),
    PATHS["ALPHA_TRACKING_URL"]: partial(dispatch, tables.TRACKING, tracking.OPERATIONS),
    PATHS["ALPHA_POINTS_URL"]: partial(dispatch, tables.POINTS, points.OPERATIONS),
    PATHS["ALPHA_QUICKCOST_URL"]: partial(dispatch, tables.QUICKCOST, products.OPERATIONS),
    **dict.fromkeys(BETA, _answer_beta),
    **dict.fromkeys(CONTROL_PATHS, answer_control),
    REDIRECTED_PATH: lambda *_: json_response({"message": "this redirect was not to be followed"}),
}


def route(state: State, request: Request) -> Response:
    state.count(known(request.path))
    response = HANDLERS.get(request.path, answer_control)(state, request)
    if "Location" not in response.headers:
        return response
    # A redirect is to another host name than the client's.
    location = f"http://localhost:{urlsplit(request.server_url).port}{response.headers['Location']}"
    return replace(response, headers={"Location": location})


def known(path: str) -> str:
    """Return a path for logs and counts: an unknown one can hold anything, secrets included."""
    return path if path in HANDLERS else "other"
