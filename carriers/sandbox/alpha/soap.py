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
    children: tuple[tuple[str, ET.Element], ...]

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
    _validate_headers(request)
    try:
        root = fromstring(request.body, forbid_dtd=True)
    except (ET.ParseError, defusedxml.DefusedXmlException, ValueError):
        raise SoapError("Error reading XMLStreamReader: the body is no XML that is accepted here") from None
    operation = _operation(root)
    space, name = _split(operation.tag)
    if space != namespace or name not in operations:
        raise SoapError(f"Unexpected wrapper element {operation.tag} found")
    return Message(space, name, tuple((_local(child), child) for child in operation))


def leaf_text(element: ET.Element) -> str:
    if len(element):
        raise SoapError(f"Unmarshalling Error: element {element.tag} holds text only")
    return element.text or ""


def fields_of(element: ET.Element, allowed: Container[str]) -> dict[str, str]:
    """Return a structure's leaves by name; SoapError for a repeated or unknown one."""
    return leaves([(_local(child), child) for child in element], allowed, element.tag)


def leaves(children: Iterable[tuple[str, ET.Element]], allowed: Container[str], parent: str) -> dict[str, str]:
    """Return leaves by name, in the request's order; SoapError for a repeated or unknown one."""
    fields: dict[str, str] = {}
    for name, child in children:
        if name not in allowed or name in fields:
            raise SoapError(f"Unmarshalling Error: unexpected or repeated element {name} in {parent}")
        fields[name] = leaf_text(child)
    return fields


def response(message: Message, result: Elements) -> Response:
    root, body = _envelope()
    wrapper = ET.SubElement(body, f"{{{message.namespace}}}{message.operation}Response")
    _fill(ET.SubElement(wrapper, "return"), result)
    return _response(root, 200)


def fault(text: str, code: str = "soap:Client") -> Response:
    root, body = _envelope()
    element = ET.SubElement(body, f"{{{ENVELOPE}}}Fault")
    _fill(element, [("faultcode", code), ("faultstring", text)])
    return _response(root, 500)


def _validate_headers(request: Request) -> None:
    media_type, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if media_type.strip().lower() != "text/xml" or charset not in ("", "charset=utf-8"):
        raise SoapError("The content type is text/xml; charset=utf-8")
    if request.headers.get("soapaction", "missing").strip('"'):
        raise SoapError('The header SOAPAction: "" is expected')


def _operation(root: ET.Element) -> ET.Element:
    if root.tag != f"{{{ENVELOPE}}}Envelope":
        raise SoapError("A SOAP 1.1 envelope is expected")
    parts = [child.tag for child in root]
    header, body = f"{{{ENVELOPE}}}Header", f"{{{ENVELOPE}}}Body"
    if parts not in ([body], [header, body]) or len(root[-1]) != 1:
        raise SoapError("An envelope with one body and one operation is expected")
    return root[-1][0]


def _local(element: ET.Element) -> str:
    space, name = _split(element.tag)
    if space:
        raise SoapError(f"Unmarshalling Error: unexpected element {name}: children carry no namespace")
    return name


def _split(tag: str) -> tuple[str, str]:
    space, _, name = tag.removeprefix("{").rpartition("}")
    return space, name


def _envelope() -> tuple[ET.Element, ET.Element]:
    root = ET.Element(f"{{{ENVELOPE}}}Envelope")
    return root, ET.SubElement(root, f"{{{ENVELOPE}}}Body")


def _fill(element: ET.Element, content: Tree) -> None:
    if isinstance(content, str):
        element.text = content
        return
    for name, inner in content:
        _fill(ET.SubElement(element, name), inner)


def _response(root: ET.Element, status: int) -> Response:
    ET.register_namespace("soap", ENVELOPE)
    return Response(status, CONTENT_TYPE, ET.tostring(root, encoding="UTF-8", xml_declaration=True))
