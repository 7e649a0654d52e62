"""Texts of stored values on the admin's pages; apart from `base`, which template tags can't import."""

NOTHING = "-"  # stands for a missing value


def short_name(choice: str) -> str:
    """Format a choice: ``OUT_FOR_DELIVERY`` becomes ``Out for delivery``."""
    return choice.replace("_", " ").capitalize()
