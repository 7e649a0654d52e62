"""Lines of text as a PDF of A4 pages, in the Helvetica that every reader has."""

from collections.abc import Iterable
from textwrap import wrap
from typing import Final
from unicodedata import normalize

from anyascii import anyascii

LINES_A_PAGE: Final = 58
WIDTH: Final = 95  # characters
ESCAPED: Final = str.maketrans({"\\": r"\\", "(": r"\(", ")": r"\)"})


class Heading(str):
    """A line that is a heading."""

    __slots__ = ()


def as_pdf(lines: Iterable[str]) -> bytes:
    """Return the PDF of lines and headings. What the font lacks is spelt in Latin letters."""
    wrapped = [
        Heading(part) if isinstance(line, Heading) else part
        for line in lines
        for part in wrap(spelt(line), WIDTH, subsequent_indent="    ") or [""]
    ]
    pages = [wrapped[start : start + LINES_A_PAGE] for start in range(0, len(wrapped), LINES_A_PAGE)] or [[]]
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode(),
        *(
            f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode()
            for name in ("Helvetica", "Helvetica-Bold")
        ),
    ]
    for number, page in enumerate(pages):
        fonts = "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >>"
        content = drawn(page)
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] {fonts} /Contents {6 + 2 * number} 0 R >>".encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        ]
    return written(objects)


def spelt(line: str) -> str:
    """Spell what is no Western European letter, as carriers print it: `Łódź` becomes `Lódz`."""
    return "".join(each if each.encode("cp1252", "ignore") else anyascii(each) for each in normalize("NFC", line))


def drawn(lines: Iterable[str]) -> bytes:
    texts = ((f"/F{2 if isinstance(line, Heading) else 1} 10 Tf", line.translate(ESCAPED)) for line in lines)
    body = "\n".join(f"{font} ({text}) Tj T*" for font, text in texts)
    return f"BT 13 TL 50 792 Td\n{body}\nET".encode("cp1252", errors="replace")


def written(objects: list[bytes]) -> bytes:
    """Return the file, with the table of where its objects are."""
    made, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    tail = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(made))
    return made + head + table + tail
