"""Runs of before get their answer's columns, profiles their latest runs, and accounts their roles."""

from django.conf import settings
from django.db import migrations


def fill(apps, schema_editor):
    Run, Profile = apps.get_model("jobs", "Run"), apps.get_model("jobs", "Profile")
    for run in Run.objects.exclude(stages={}).only("stages").iterator():
        limit = run.stages.get("limit")
        if not limit:
            continue
        best = limit.get("ran_at") or {}
        run.answered = True
        run.limit_context = limit.get("context")
        run.limit_strategy = limit.get("strategy") or ""
        run.limited_by = limit.get("limited_by") or ""
        run.fits = bool(limit.get("fits_workload"))
        run.peak_bytes = best.get("peak_bytes")
        run.tokens_per_s = best.get("decode_tokens_per_s")
        run.save(
            update_fields=[
                "answered", "limit_context", "limit_strategy", "limited_by", "fits", "peak_bytes", "tokens_per_s"
            ]
        )
    for profile in Profile.objects.iterator():
        runs = Run.objects.filter(profile=profile).order_by("-queued_at", "-pk")
        profile.latest_run = runs.only("pk").first()
        profile.answer_run = runs.filter(answered=True).only("pk").first()
        profile.freshness = "fresh" if profile.answer_run else ""
        profile.save(update_fields=["latest_run", "answer_run", "freshness"])
    Membership, User = apps.get_model("jobs", "Membership"), apps.get_model(*settings.AUTH_USER_MODEL.split("."))
    for user in User.objects.iterator():
        Membership.objects.get_or_create(user=user, defaults={"role": "admin" if user.is_superuser else "member"})


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0005_team_memory"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
