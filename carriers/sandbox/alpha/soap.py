"""Reads SOAP 1.1 requests strictly, and writes responses and faults, as alpha does."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree as ET  # for building only

import defusedxml
from defusedxml.ElementTree import fromstring

from carriers.sandbox.data import Rule, broken, rows
from carriers.sandbox.http import Request, Response

# The content of a response's element: text, or further elements. A list, because elements repeat.
Tree = str | list[tuple[str, "Tree"]]
Elements = list[tuple[str, Tree]]

# The children of each operation, in the order of the WSDL, and those that may be left out, which have a `?` there.
_NAMES = {row["operation"]: row["children"].split() for row in rows("alpha/operations.csv")}
CHILDREN = {operation: tuple(name.rstrip("?") for name in names) for operation, names in _NAMES.items()}
OPTIONAL = {operation: {name[:-1] for name in names if name.endswith("?")} for operation, names in _NAMES.items()}
ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"
CONTENT_TYPE = "text/xml; charset=utf-8"
ET.register_namespace("soap", ENVELOPE)


class SoapError(Exception):
    """The request is not a message of this service; answered with a SOAP fault."""


class RefusalError(Exception):
    """The carrier understands the request and refuses it; answered with HTTP 200 and this code.

    The text is the service's own for the code, or another one, with a detail behind it.
    """

    def __init__(self, code: int, detail: str = "", text: str = "") -> None:
        super().__init__(code)
        self.code, self.detail, self.text = code, detail, text


def require(is_met: object, code: int, detail: str = "") -> None:
    if not is_met:
        raise RefusalError(code, detail)


def validate(fields: Mapping[str, str], rules: Iterable[Rule]) -> None:
    """Refuse the first field that breaks its rule."""
    for code, name in broken(rules, fields):
        raise RefusalError(code, name)


@dataclass(frozen=True)
class Message:
    """One operation and its children, in the request's order."""

    namespace: str
    operation: str
    children: list[tuple[str, ET.Element]]

    def fields(self) -> dict[str, str]:
        """Return the texts by name of an operation whose children are exactly its leaves, in their order."""
        names, optional = [name for name, _ in self.children], OPTIONAL[self.operation]
        if names != [name for name in CHILDREN[self.operation] if name in names or name not in optional]:
            expected = ", ".join(name for name in CHILDREN[self.operation] if name not in optional)
            raise SoapError(f"Unmarshalling Error: expected elements are {expected} in this order")
        return {name: leaf_text(element) for name, element in self.children}


def read_message(request: Request, namespace: str, operations: Container[str]) -> Message:
    """Read a SOAP request; SoapError when its form differs from the published one in anything."""
    if request.method != "POST":
        raise SoapError("POST is expected")
    if not request.is_of_type("text/xml"):
        raise SoapError("The content type is text/xml; charset=utf-8")
    if request.headers.get("soapaction", "missing").strip('"'):
        raise SoapError('The header SOAPAction: "" is expected')
    try:
        root = fromstring(request.body, forbid_dtd=True)
    except (ET.ParseError, defusedxml.DefusedXmlException, ValueError):
        raise SoapError("Error reading XMLStreamReader: the body is no XML that is accepted here") from None
    operation = _operation(root)
    space, name = _split(operation.tag)
    if space != namespace or name not in operations:
        raise SoapError(f"Unexpected wrapper element {operation.tag} found")
    return Message(space, name, children_of(operation))


def leaf_text(element: ET.Element) -> str:
    if len(element):
        raise SoapError(f"Unmarshalling Error: element {element.tag} holds text only")
    return element.text or ""


def leaves(children: Iterable[tuple[str, ET.Element]], allowed: Container[str], parent: str) -> dict[str, str]:
    """Return leaves by name, in the request's order; SoapError for a repeated or unknown one."""
    fields: dict[str, str] = {}
    for name, child in children:
        if name not in allowed or name in fields:
            raise SoapError(f"Unmarshalling Error: unexpected or repeated element {name} in {parent}")
        fields[name] = leaf_text(child)
    return fields


def response(message: Message, result: Elements) -> Response:
    return _enveloped(f"{{{message.namespace}}}{message.operation}Response", [("return", result)], 200)


def fault(text: str, code: str = "soap:Client") -> Response:
    return _enveloped(f"{{{ENVELOPE}}}Fault", [("faultcode", code), ("faultstring", text)], 500)


def _operation(root: ET.Element) -> ET.Element:
    if root.tag != f"{{{ENVELOPE}}}Envelope":
        raise SoapError("A SOAP 1.1 envelope is expected")
    parts = [child.tag for child in root]
    header, body = f"{{{ENVELOPE}}}Header", f"{{{ENVELOPE}}}Body"
    if parts not in ([body], [header, body]) or len(root[-1]) != 1:
        raise SoapError("An envelope with one body and one operation is expected")
    return root[-1][0]


def children_of(element: ET.Element) -> list[tuple[str, ET.Element]]:
    """Return the children by name; SoapError for one in a namespace."""
    for child in element:
        space, name = _split(child.tag)
        if space:
            raise SoapError(f"Unmarshalling Error: unexpected element {name}: children carry no namespace")
    return [(child.tag, child) for child in element]


def _split(tag: str) -> tuple[str, str]:
    space, _, name = tag.removeprefix("{").rpartition("}")
    return space, name


def _enveloped(tag: str, content: Elements, status: int) -> Response:
    root = ET.Element(f"{{{ENVELOPE}}}Envelope")
    _fill(root, [(f"{{{ENVELOPE}}}Body", [(tag, content)])])
    return Response(status, CONTENT_TYPE, ET.tostring(root, encoding="UTF-8", xml_declaration=True))


def _fill(element: ET.Element, content: Tree) -> None:
    if isinstance(content, str):
        element.text = content
        return
    for name, inner in content:
        _fill(ET.SubElement(element, name), inner)
