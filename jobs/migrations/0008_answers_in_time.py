from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0007_what_an_answer_rests_on")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["-queued_at", "-id", "profile"],
                condition=models.Q(answered=True),
                name="run_answers_in_time",
            ),
        ),
    ]
