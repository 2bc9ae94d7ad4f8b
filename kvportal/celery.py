import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kvportal.settings")

INSPECT_QUEUE = "inspect"

app = Celery("kvportal")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.set_default()  # a request's thread must find this app, not one of Celery's own making
