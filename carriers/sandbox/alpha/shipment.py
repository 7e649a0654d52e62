"""The shipment in a request of `shippingMultiParcelV4`."""

from dataclasses import dataclass

from carriers.sandbox.alpha import tables
from carriers.sandbox.alpha.soap import CHILDREN, Message, SoapError, fields_of, leaf_text

Fields = dict[str, str]


@dataclass(frozen=True)
class Shipment:
    """Structures by name, each possibly repeated, and the top-level fields."""

    structures: dict[str, list[Fields]]
    top: Fields
    is_in_schema_order: bool  # inside every structure

    def one(self, name: str) -> Fields:
        return self.structures[name][0]

    @property
    def refs(self) -> list[Fields]:
        return self.structures["refValue"]

    @property
    def skybills(self) -> list[Fields]:
        return self.structures["skybillValue"]


def read_shipment(message: Message) -> Shipment:
    """Return the shipment; SoapError for a child that is unknown, out of order or wrongly repeated."""
    names = [name for name, _ in message.children]
    known = CHILDREN[message.operation]
    if not set(names) <= set(known) or names != sorted(names, key=known.index):
        raise SoapError(f"Unmarshalling Error: expected, in this order: {', '.join(known)}")
    for name in set(names) - tables.REPEATABLE:
        if names.count(name) > 1:
            raise SoapError(f"Unmarshalling Error: {name} is not repeated")
    schemas = {name: [field.name for field in fields] for name, fields in tables.STRUCTURES.items()}
    structures: dict[str, list[Fields]] = {name: [] for name in schemas}
    top: Fields = {}
    for name, element in message.children:
        if name in structures:
            structures[name].append(fields_of(element, schemas[name]))
        else:
            top[name] = leaf_text(element)
    is_ordered = all(
        list(block) == sorted(block, key=schemas[name].index) for name, blocks in structures.items() for block in blocks
    )
    return Shipment(structures, top, is_ordered)
