import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kvportal.settings")

app = Celery("kvportal")
app.config_from_object("django.conf:settings", namespace="CELERY")
