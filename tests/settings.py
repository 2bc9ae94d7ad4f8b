"""The portal's settings, with what a test run needs otherwise: a folder of its own and no hashed static files."""

import os
import tempfile

os.environ.setdefault("DATA", tempfile.mkdtemp(prefix="kvp-test-"))

from kvportal.settings import *  # noqa: F403
from kvportal.settings import STORAGES

STORAGES = STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
