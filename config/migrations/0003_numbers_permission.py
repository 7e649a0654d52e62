"""Gives the roles' groups the permission to have carriers asked under its new name."""

from typing import Any

from django.db import migrations

from config.roles import make_groups


def forwards(*args: Any) -> None:
    make_groups()


class Migration(migrations.Migration):
    dependencies = [("config", "0002_accounting"), ("parcels", "0006_number_rows")]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
