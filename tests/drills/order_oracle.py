"""The message of an order to a carrier, written from the carriers' pages alone: nothing here imports a client."""

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

# Letters that no accent is taken off of.
SPELLED = {"Œ": "Oe", "œ": "oe", "ß": "ss", "Ø": "O", "ø": "o", "Ł": "L", "ł": "l", "Æ": "Ae", "æ": "ae", "Đ": "D"}
SPELLED |= dict(zip("ΩΑθήναμж東京", "O A th i n a m zh Dong Jing".split(), strict=True))
# What keyboards and web forms write for plain punctuation, which beta is sent.
PLAIN = dict(zip("\u2018\u2019\u201c\u201d\u2010\u2013\u2014\u00a0", "''\"\"--- ", strict=True))

LABEL_ID = "the label's id"  # stands for it
UNPRINTABLE = "?" * 99  # stands for a text that beta has no letters for: longer than any field


@dataclass
class Expected:
    """The values on the wire by their names, and the paths of the fields that are refused."""

    values: dict[str, Any] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)

    def text(self, path: str, text: str, length: int) -> str:
        """Return a text that fits, or note the refusal of its field."""
        if len(text) > length:
            self.refused.add(path)
        return text

    def required(self, path: str, text: str, length: int) -> str:
        """Return a text that fits and says something, or note the refusal of its field."""
        return self.text(path, text or "?" * (length + 1), length)

    def put(self, prefix: str, values: Json) -> None:
        """Add what is not empty, as an empty child is left out."""
        self.values |= {f"{prefix}{name}": value for name, value in values.items() if value not in ("", None)}


def is_latin(text: str) -> bool:
    return all(not char.isalpha() or unicodedata.name(char).startswith("LATIN") for char in text)


def spelled(text: str) -> str:
    """Spell accents, ligatures and other scripts out in ASCII letters."""
    plain = "".join(SPELLED.get(char, char) for char in unicodedata.normalize("NFC", text))
    return "".join(char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(char))


def to_alpha(text: str) -> str:
    """Keep letters, digits and a hyphen between them; every other symbol is a space, two or more hyphens are one."""
    kept = re.sub(r"[^A-Za-z0-9-]", " ", spelled(text))
    kept = re.sub(r"--+", " ", kept)
    kept = re.sub(r"(?<![A-Za-z0-9])-|-(?![A-Za-z0-9])", " ", kept)
    return " ".join(kept.split())


def to_beta(text: str) -> str:
    """As typed, on one line, in composed letters and plain punctuation: Latin letters and the symbols of Latin-1."""
    composed = unicodedata.normalize("NFC", text)
    typed = " ".join("".join(PLAIN.get(char, char) for char in composed).split())
    can_be_printed = all(char <= "\xff" or (char.isalpha() and is_latin(char)) for char in typed)
    return typed if can_be_printed else UNPRINTABLE


def folded(text: str, length: int) -> list[str]:
    """Fold a text at its spaces."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) <= length or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def two_lines(expected: Expected, path: str, street: str, more: str, length: int, *, is_one: bool = False) -> list[str]:
    """Return the lines of an address: the street, folded into the second line, before what is given there."""
    lines = folded(street, length)
    expected.text(f"{path}.address2", more, length)
    if not street or len(lines) > (1 if is_one else 2) or any(len(line) > length for line in lines):
        expected.refused.add(f"{path}.address1")
        return ["", ""]
    if is_one:
        return [expected.text(f"{path}.address2", f"{street} {more}".strip(), length), ""]
    rest = " ".join(lines[1:])
    return [lines[0], expected.text(f"{path}.address2", f"{rest} {more}".strip(), length) if more else rest]


# --- alpha ---


def alpha(body: Json) -> list[Expected]:
    """Return what alpha is sent of each parcel."""
    whole = Expected()
    is_at_point = "pickupPointCode" in body
    alpha_party(whole, body, "originAddress", "shipperValue.shipper")
    alpha_party(whole, body, "destinationAddress", "recipientValue.recipient", is_at_point=is_at_point)
    whole.put("skybillParamsValue.", {"mode": {"A4": "SPD"}.get(body.get("labelFormat", ""), "THE")})
    return [alpha_parcel(whole, body, rank, is_at_point=is_at_point) for rank in range(len(body["parcels"]))]


def alpha_party(whole: Expected, body: Json, path: str, prefix: str, *, is_at_point: bool = False) -> None:
    address = body[path]
    text = {name: to_alpha(value) for name, value in address.items()}
    longer = "firstName" if len(text["firstName"]) > len(text["lastName"]) else "lastName"
    person = whole.required(f"{path}.{longer}", f"{text['firstName']} {text['lastName']}".strip(), 100)
    whole.put(prefix, alpha_phone(address) | {"Email": address.get("email", "")})
    if is_at_point:
        # Phone, mobile and e-mail are the customer's at a relay.
        whole.put(prefix, {"Name2": person, "ContactName": person, "Phone": address.get("phone", "")})
        return
    company = whole.text(f"{path}.company", text.get("company", ""), 100)
    first, second = two_lines(whole, path, text["address1"], text.get("address2", ""), 38)
    names = {"Name": company, "Name2": person} if company else {"Name": person}
    place = {
        "ContactName": person,
        "Adress1": first,
        "Adress2": second,
        "City": whole.required(f"{path}.city", text["city"], 50),
        "ZipCode": text["zip"],
        "Country": address["countryCode"],
    }
    whole.put(prefix, names | place)


def alpha_phone(address: Json) -> Json:
    phone = address.get("phone", "")
    return {"MobilePhone" if is_mobile(phone) else "Phone": phone}


def is_mobile(phone: str) -> bool:
    return phone.startswith(("+336", "+337", "+324", "+4915", "+417"))


def alpha_parcel(whole: Expected, body: Json, rank: int, *, is_at_point: bool) -> Expected:
    parcel = body["parcels"][rank]
    own, of_order = parcel.get("reference", ""), body.get("reference", "")
    path = f"parcels[{rank}].reference" if own else "reference"
    one = Expected(dict(whole.values), set(whole.refused))
    reference = one.text(path, to_alpha(own or of_order), 35)
    one.put("skybillValue." if is_at_point else "refValue.", {"content1" if is_at_point else "recipientRef": reference})
    cents = round(body.get("insuredValue", 0) * 100)
    one.put("skybillValue.", {"insuredValue": str(cents), "weight": f"{parcel['weight']:g}"})
    return one


# --- beta ---


def beta(body: Json) -> list[Expected]:
    """Return what beta is sent of each parcel."""
    whole = Expected()
    words = body["destinationAddress"].get("instructions", "")
    is_at_point = "pickupPointCode" in body
    beta_party(whole, body, "originAddress", "letter.sender.address.")
    beta_party(whole, body, "destinationAddress", "letter.addressee.address.", is_at_point=is_at_point)
    said = " ".join(re.sub(r"[^A-Za-z0-9]", " ", spelled(words)).split())
    said = whole.text("destinationAddress.instructions", said if is_latin(words) else UNPRINTABLE, 35)
    cents = round(body["insuredValue"] * 100) if "insuredValue" in body else None
    whole.put("letter.parcel.", {"instructions": said, "insuranceValue": cents})
    printing = "PDF_A4_300dpi" if body.get("labelFormat") == "A4" else "PDF_10x15_300dpi"
    whole.put("outputFormat.", {"outputPrintingType": printing})
    return [beta_parcel(whole, body, rank) for rank in range(len(body["parcels"]))]


def beta_party(whole: Expected, body: Json, path: str, prefix: str, *, is_at_point: bool = False) -> None:
    address = body[path]
    text = {name: to_beta(value) for name, value in address.items()}
    person = {
        "firstName": whole.text(f"{path}.firstName", text["firstName"], 29),
        "lastName": whole.text(f"{path}.lastName", text["lastName"], 35),
    }
    whole.put(prefix, person | beta_phone(address) | {"email": address.get("email", "")})
    if is_at_point:
        return
    company = whole.text(f"{path}.company", text.get("company", ""), 35)
    is_one = path == "destinationAddress" and address["countryCode"] in {"BE", "CH"}
    street, more = text["address1"], text.get("address2", "")
    if len(more) > 35 and street not in ("", UNPRINTABLE):
        street = "-"  # its own length is told of later
    first, second = two_lines(whole, path, street, more, 35, is_one=is_one)
    place = {
        "companyName": company,
        "line2": first,
        "line3": second,
        "city": whole.required(f"{path}.city", text["city"], 35),
        "zipCode": text["zip"],
        "countryCode": address["countryCode"],
    }
    whole.put(prefix, place)
    is_nobody = not company and not all(person.values())
    if is_nobody and not any(each.startswith(path) for each in whole.refused):
        whole.refused.add(f"{path}.lastName")


def beta_phone(address: Json) -> Json:
    phone = address.get("phone", "")
    return {"mobileNumber" if is_mobile(phone) or address["countryCode"] == "BE" else "phoneNumber": phone}


def beta_parcel(whole: Expected, body: Json, rank: int) -> Expected:
    parcel = body["parcels"][rank]
    one = Expected(dict(whole.values), set(whole.refused))
    own, of_order = parcel.get("reference", ""), body.get("reference", "")
    path = f"parcels[{rank}].reference" if own else "reference"
    reference = one.text(path, to_beta(own or of_order), 15)
    one.put("letter.sender.", {"senderParcelRef": reference or LABEL_ID})
    one.put("letter.parcel.", {"weight": parcel["weight"]})
    return one


ORACLES = {"alpha": alpha, "beta": beta}
