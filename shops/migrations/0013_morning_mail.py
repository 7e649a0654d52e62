"""Who of the staff wants the queue by e-mail each morning."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("shops", "0012_test_shops"),
    ]

    operations = [
        migrations.CreateModel(
            name="MorningMail",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("language", models.CharField(max_length=10)),
                ("sent_on", models.DateField(help_text="The last day that is done with, in STAFF_TIME_ZONE.")),
            ],
            options={
                "ordering": ["user_id"],
                "default_permissions": (),
            },
        ),
    ]
