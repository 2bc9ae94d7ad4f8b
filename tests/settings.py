"""The portal's settings, with what a test run needs otherwise: a folder of its own and no hashed static files.

KVPORTAL_TEST_DATABASE=postgres runs the same tests on a real PostgreSQL (tests/postgres.py) instead of SQLite.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from tests.postgres import postgres_url

if "DATA" not in os.environ:
    os.environ["DATA"] = tempfile.mkdtemp(prefix="kvp-test-")
    atexit.register(shutil.rmtree, os.environ["DATA"], ignore_errors=True)
if os.environ.get("KVPORTAL_TEST_DATABASE") == "postgres":
    os.environ["DATABASE_URL"] = postgres_url()

from kvportal.settings import *  # noqa: F403
from kvportal.settings import DATA_DIR, DATABASES, STATIC_ROOT, STORAGES

STORAGES = STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
Path(STATIC_ROOT).mkdir(parents=True, exist_ok=True)
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}  # a file: threads and workers see it too
