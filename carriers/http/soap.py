"""XML from a stranger, read within bounds, and the SOAP 1.1 envelope around it."""

from collections.abc import Iterator
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError, SubElement, TreeBuilder, register_namespace, tostring

from defusedxml.ElementTree import DefusedXMLParser

from carriers.http.messages import UnreadableError

SOAP_NAMESPACE: Final = "http://schemas.xmlsoap.org/soap/envelope/"
# 100 parcels with all their children, or ten with their whole history, are a tenth of this.
MAX_TAGS: Final = 40_000
MAX_QUOTES: Final = 80_000
MAX_DEPTH: Final = 32

register_namespace("soap", SOAP_NAMESPACE)


class _BoundedBuilder(TreeBuilder):
    """Builds a tree no deeper than any that a carrier sends."""

    _depth = 0

    def start(self, tag: Any, attributes: Any, /) -> Element:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnreadableError("XML too deep")
        return super().start(tag, attributes)

    def end(self, tag: Any, /) -> Element:
        self._depth -= 1
        return super().end(tag)


def parse(document: bytes) -> Element:
    """Parse XML; raises UnreadableError, for a DOCTYPE too."""
    _refuse_swarms(document)
    # The protocol's encoding, whatever the document declares. Only a byte order mark outweighs it: of UTF-16, in which
    # the bounds above hold too.
    parser = DefusedXMLParser(target=_BoundedBuilder(), encoding="utf-8", forbid_dtd=True)
    try:
        parser.feed(document)
        root = parser.close()
    except UnreadableError:
        raise
    except (ParseError, ValueError, LookupError) as error:
        raise UnreadableError(f"no readable XML ({type(error).__name__})") from None
    if not isinstance(root, Element):
        raise UnreadableError("no XML element")
    return root


def _refuse_swarms(document: bytes) -> None:
    """Refuse so many tags or attributes that the tree of them would be many times the document's size."""
    if document.count(b"<") > MAX_TAGS or document.count(b'"') + document.count(b"'") > MAX_QUOTES:
        raise UnreadableError("too many XML tags")


def local_name(element: Element) -> str:
    """The name without its namespace."""
    return str(element.tag).rpartition("}")[2]


def children(element: Element, name: str) -> Iterator[Element]:
    """The direct children of this name, in whatever namespace."""
    return (child for child in element if local_name(child) == name)


def child(element: Element, name: str) -> Element | None:
    """The first of them."""
    return next(children(element, name), None)


def text(element: Element, name: str) -> str:
    """The text of the first child of this name, empty when there is none."""
    found = child(element, name)
    return (found.text or "").strip() if found is not None else ""


def leaf(name: str, value: str) -> Element:
    """An element that holds text."""
    element = Element(name)
    element.text = value
    return element


def envelope(operation: str, namespace: str, parts: list[Element]) -> bytes:
    """A SOAP message: only the operation's element is in the service's namespace."""
    root = Element(f"{{{SOAP_NAMESPACE}}}Envelope")
    body = SubElement(root, f"{{{SOAP_NAMESPACE}}}Body")
    SubElement(body, f"{{{namespace}}}{operation}").extend(parts)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True))


def body_of(document: bytes) -> Element:
    """The first element in an envelope's body: an operation's answer or a fault."""
    root = parse(document)
    body = child(root, "Body") if local_name(root) == "Envelope" else None
    if body is None or len(body) == 0:
        raise UnreadableError("no SOAP body")
    return body[0]


def fault_code(fault: Element) -> str:
    """A fault's code without its prefix, such as Server."""
    return text(fault, "faultcode").rpartition(":")[2]
