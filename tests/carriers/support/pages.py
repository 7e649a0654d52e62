"""Error codes and names of fields, copied from the carriers' pages by hand."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

# As the pages write them, with their ranges; by carrier and operation.
CODES: Final[Mapping[tuple[str, str], str]] = {
    ("alpha", "purchase"): "1 29 30 31 32 34 33 35 36 37 38",
    ("alpha", "cancellation"): "1 2 3",
    ("alpha", "pickup point"): "300 301 302 306 307 309 317 319 320 321 601 700 1500",
    ("beta", "purchase"): """
        30000 30007 30008
        30009 30700
        30014 30015 30318 30213 30109 ROUTING_18-22
        30002 30010
        30017 30020 30022 30023 30025 30026 30090 30303 30306 30309-30313 30316 30317 30321 30323-30327 30702 30703
        14040 40011 40012 40013 40016 40017 30018
        30043 30045-30047 30065 30085 30100 30102 30103 30104 30106 30107 30108
        30089 ROUTING_0 ROUTING_2 ROUTING_5 ROUTING_6 ROUTING_7 ROUTING_8 ROUTING_9 ROUTING_26 ROUTING_27
        ROUTING_200-203 GEO_ROUTING_IV106-108 30200 30202 30204 30206 30207 30208 30210 30211 30212
        30220 30221 30222 30223
        30300 30301
        30400 30401 30402 30403 30900-30904
        30500-30554 30562 30600
        1 30701 40014 40015 40018 ROUTING_23-25 3xx 10xx
        30704 30705 30800-30820
        """,
    ("beta", "pickup point"): """
        101 102 201 202 104-107 117 120-123 125 127 129 143-145 124 146 203 300 301 1000
        """,
}
# In a remedy each would be a word of the carrier's, not one of the API's.
FIELDS: Final = """
    accountNumber idEmit identWebPro subAccount shipperName shipperAdress1 shipperZipCode shipperCity shipperCountry
    shipperPhone customerName customerZipCode recipientName recipientName2 recipientAdress1 recipientAdress2
    recipientZipCode recipientCity recipientCountry recipientEmail recipientPhone recipientMobilePhone recipientPreAlert
    shipperRef recipientRef idRelais customerSkybillNumber skybillNumber evtCode objectType shipDate shipHour
    bulkNumber skybillRank codValue insuredValue customsValue customsCurrency content1 modeRetour numberOfParcel
    reservationNumber contractNumber outputPrintingType depositDate orderNumber commercialName totalAmount
    returnTypeChoice pickupLocationId senderParcelRef addresseeParcelRef companyName line0 line1 line2 line3 zipCode
    stateOrProvinceCode phoneNumber mobileNumber addressee customsDeclarations numberOfCopies article
    """.split()


def documented(carrier: str, operation: str) -> Iterator[str]:
    """Return each code of an operation; a range, such as `ROUTING_18-22`, is written out."""
    for written in CODES[carrier, operation].split():
        span = re.fullmatch(r"(\D*)(\d+)-(\d+)", written)
        if span is None:
            yield written
        else:
            yield from (f"{span[1]}{number}" for number in range(int(span[2]), int(span[3]) + 1))
