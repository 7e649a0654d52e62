"""How the staff's pages word what is stored; template tags use it, too, which can't import `shops.admin.base`."""

NOTHING = "-"  # where there is no value to show


def short_name(choice: str) -> str:
    """``OUT_FOR_DELIVERY`` becomes ``Out for delivery``."""
    return choice.replace("_", " ").capitalize()
