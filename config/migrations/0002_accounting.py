"""Gives the roles' groups their permissions of today, and makes the group of those who work with the figures for finance."""

from typing import Any

from django.db import migrations

from config.roles import make_groups


def forwards(*args: Any) -> None:
    make_groups()


class Migration(migrations.Migration):
    dependencies = [("config", "0001_roles"), ("labels", "0006_figures_permission")]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
