"""A run names its own model: its profile may ask another by now."""

import django.db.models.deletion
from django.db import migrations, models


def fill(apps, schema_editor):
    """From the profile. Where that asks another model by now, from the entry that the run's question names."""
    Run, ModelEntry = apps.get_model("jobs", "Run"), apps.get_model("jobs", "ModelEntry")
    for run in Run.objects.select_related("profile").only("question", "profile__model_entry", "profile__question"):
        entry = run.profile.model_entry_id
        name = run.question.get("model")
        if name != run.profile.question.get("model"):
            named = ModelEntry.objects.filter(name=name).order_by("-pk").values_list("pk", flat=True).first()
            entry = named or entry
        Run.objects.filter(pk=run.pk).update(model_entry_id=entry)


class Migration(migrations.Migration):
    dependencies = [("jobs", "0008_answers_in_time")]
    operations = [
        migrations.AddField(
            model_name="run",
            name="model_entry",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="jobs.modelentry"
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
