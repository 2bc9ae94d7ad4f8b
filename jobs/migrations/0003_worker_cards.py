from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0002_model_entry_dtypes"),
    ]

    operations = [
        migrations.AddField(
            model_name="worker",
            name="cards",
            field=models.JSONField(default=dict),
        ),
    ]
