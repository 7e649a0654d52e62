from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("labels", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="shippinglabel",
            name="pdf_removed_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="shippinglabel",
            name="addresses_removed_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
