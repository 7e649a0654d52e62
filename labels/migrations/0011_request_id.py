"""Labels keep the id of the request that ordered them."""

from django.db import migrations

import shops.api.request_ids
import shops.db.fields


class Migration(migrations.Migration):
    dependencies = [("labels", "0010_numbers_of_labels")]

    operations = [
        migrations.AddField(
            model_name="shippinglabel",
            name="request_id",
            field=shops.db.fields.KeyField(
                blank=True,
                db_default="",
                default=shops.api.request_ids.current_request_id,
                help_text="The X-Request-Id of the order, as it was answered.",
                max_length=32,
            ),
        ),
    ]
