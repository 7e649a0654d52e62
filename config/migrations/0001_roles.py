"""Makes the roles' groups."""

from typing import Any

from django.db import migrations

from config.roles import make_groups


def forwards(*args: Any) -> None:
    make_groups()


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("shops", "0001_initial"),
        ("parcels", "0001_initial"),
        ("labels", "0001_initial"),
    ]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
