"""SOAP 1.1 envelopes, and XML from an untrusted source, parsed within limits."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError, SubElement, TreeBuilder, register_namespace, tostring

from defusedxml.ElementTree import DefusedXMLParser

from carriers.http.transport import UnreadableError, as_utf_8
from carriers.text import BLANKS

SOAP_NAMESPACE: Final = "http://schemas.xmlsoap.org/soap/envelope/"
# Ten times 100 parcels with all their elements, or ten parcels with their whole history.
MAX_TAGS: Final = 40_000
MAX_QUOTES: Final = 80_000
MAX_DEPTH: Final = 32
_DECLARED: Final = re.compile(rb"""<\?xml[^>]*?\bencoding\s*=\s*["']([\w.-]{1,40})["']""", re.ASCII)

_DECLARATION: Final = b"<?xml version='1.0' encoding='utf-8'?>\n"

register_namespace("soap", SOAP_NAMESPACE)
Content = Iterable[tuple[str, "str | Content"]]  # of an element: texts and structures by their names, in order


class _BoundedBuilder(TreeBuilder):
    """Builds a tree of limited depth, of names without their namespaces."""

    _depth = 0

    def start(self, tag: Any, attributes: Any, /) -> Element:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnreadableError("the XML is too deep")
        return super().start(tag.rpartition("}")[2], attributes)

    def end(self, tag: Any, /) -> Element:
        self._depth -= 1
        return super().end(tag)


def parse(document: bytes) -> Element:
    """Parse XML into elements without namespaces; raises UnreadableError, also for a DOCTYPE."""
    # Many tags or attributes would make a tree many times the document's size.
    if document.count(b"<") > MAX_TAGS or document.count(b'"') + document.count(b"'") > MAX_QUOTES:
        raise UnreadableError("the XML has too many tags")
    # Nothing may precede a declaration, though servers' pages often begin with a line, even after a byte order mark.
    document = document.removeprefix(BOM_UTF8).lstrip()
    if declared := _DECLARED.match(document):
        document = as_utf_8(document, declared[1].decode())
    # Whatever else the document declares, it is in the protocol's encoding. Only a UTF-16 byte order mark overrides
    # it, and the limits above hold for UTF-16, too.
    parser = DefusedXMLParser(target=_BoundedBuilder(), encoding="utf-8", forbid_dtd=True)
    try:
        parser.feed(document)
        root: Element = parser.close()
    except UnreadableError:
        raise
    except (ParseError, ValueError, LookupError):
        raise UnreadableError("the answer is not readable XML") from None
    finally:
        vars(parser).clear()  # its circle with expat's parser, which keeps what it has not read
    return root


def text(element: Element, name: str) -> str:
    """Return the text of the first child of this name, empty if there is none."""
    return (element.findtext(name) or "").strip(BLANKS)


def records(element: Element, name: str) -> list[Element]:
    """Return the children of this name but for empty ones: a list without any may be written as one of them."""
    return [child for child in element.findall(name) if len(child)]


def is_true(element: Element, name: str, *, otherwise: bool = False) -> bool:
    """Read an XML boolean, which has two forms of each value; `otherwise` for anything else."""
    return {"true": True, "1": True, "false": False, "0": False}.get(text(element, name).lower(), otherwise)


def envelope(operation: str, namespace: str, content: Content) -> bytes:
    """Return a SOAP message; only the operation's element is in the service's namespace."""
    root = Element(f"{{{SOAP_NAMESPACE}}}Envelope")
    body = SubElement(root, f"{{{SOAP_NAMESPACE}}}Body")
    _fill(SubElement(body, f"{{{namespace}}}{operation}"), content)
    # Written as bytes, each piece would go through an encoder of its own.
    return _DECLARATION + tostring(root, encoding="unicode").encode(errors="xmlcharrefreplace")


def _fill(element: Element, content: Content) -> None:
    for name, value in content:
        child = SubElement(element, name)
        if isinstance(value, str):
            child.text = value
        else:
            _fill(child, value)


def body_of(document: bytes) -> Element:
    """Return the first element in an envelope's body: an operation's answer or a fault."""
    root = parse(document)
    body = root.find("Body") if root.tag == "Envelope" else None
    if body is None or len(body) == 0:
        raise UnreadableError("the answer has no SOAP body")
    return body[0]
