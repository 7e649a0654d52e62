"""Error codes and names of fields, copied from the carriers' pages by hand."""

from collections.abc import Mapping
from typing import Final

from tests.carriers.test_beta_refusals import CODES as BETAS

# By carrier and operation.
CODES: Final[Mapping[tuple[str, str], list[str]]] = {
    ("alpha", "purchase"): "1 29 30 31 32 34 33 35 36 37 38".split(),
    ("alpha", "cancellation"): "1 2 3".split(),
    ("alpha", "pickup point"): "300 301 302 306 307 309 317 319 320 321 601 700 1500".split(),
    ("beta", "purchase"): [*(code for code, _, _ in BETAS), "3xx", "10xx"],
    ("beta", "pickup point"): (
        "101 102 201 202 104 105 106 107 117 120 121 122 123 125 127 129 143 144 145 124 146 203 300 301 1000"
    ).split(),
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
