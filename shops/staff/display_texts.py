"""Texts of stored values on the admin's pages; apart from `base`, which template tags can't import."""

from functools import lru_cache

from django.template.loader import render_to_string

NOTHING = "-"  # stands for a missing value


def short_name(choice: str) -> str:
    """Format a choice: ``OUT_FOR_DELIVERY`` becomes ``Out for delivery``."""
    return choice.replace("_", " ").capitalize()


@lru_cache
def badge(text: str, colour: str, title: str = "") -> str:
    """Render a coloured label of a choice; once, as a list has the same few in each of its rows."""
    context = {"text": text, "type": colour, "label_title": title}
    return render_to_string("unfold/helpers/label.html", context)
