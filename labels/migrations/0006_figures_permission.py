"""The figures for finance have a permission of their own."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("labels", "0005_label_states_validated")]

    operations = [
        migrations.AlterModelOptions(
            name="labelfigure",
            options={
                "default_permissions": ("view",),
                "ordering": ["day", "shop", "carrier_code", "product_code", "state", "error_code"],
                "verbose_name_plural": "figures for finance",
            },
        ),
    ]
