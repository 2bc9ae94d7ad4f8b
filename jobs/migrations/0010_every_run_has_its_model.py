import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0009_a_run_s_own_model")]
    operations = [
        migrations.AlterField(
            model_name="run",
            name="model_entry",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="jobs.modelentry"
            ),
        ),
    ]
