"""Every setting reads from the environment and has a default that runs on one machine."""

import sys
from pathlib import Path

from csp.constants import NONE, SELF

from kvportal.env import (
    BASE_DIR,
    caches,
    celery_broker,
    channel_layers,
    data_dir,
    database,
    email,
    env,
    hours,
    number,
    public_url,
    rate,
    secret_key,
    time_zone,
)

DATA_DIR = data_dir()
RECORDS_DIR = DATA_DIR / "records"  # what the commands found out about models, so that each is read once
MODELS_DIR = Path(env.str("MODELS_DIR", default="") or DATA_DIR / "models").expanduser().resolve()
SECRET_KEY = secret_key(DATA_DIR)
DEBUG = env.bool("DEBUG", default=False)
HOST = env.str("HOST", default="127.0.0.1")
PORT = number("PORT", default=8000)
PUBLIC_URL = public_url(host=HOST, port=PORT)  # what links in messages and shares begin with
DEVICES = [name.strip().replace("+", ",") for name in env.list("DEVICES", default=[])]
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
FORWARDED_ALLOW_IPS = env.str("FORWARDED_ALLOW_IPS", default="").strip()
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
KVPORTAL_DEVICE = env.str("KVPORTAL_DEVICE", default="").replace("+", ",")  # "cpu", "cuda:0" or "cuda:0,cuda:1"
WORKER_HOST = env.str("WORKER_HOST", default="")  # a worker's machine by name, where the host name changes
MEASURING_PYTHON = env.str("MEASURING_PYTHON", default="") or sys.executable  # whose transformers is measured

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "axes",
    "channels",
    "csp",
    "drf_spectacular",
    "jobs",
    "kvportal",
    "rest_framework",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "jobs.web.sign_in_needed.SignInNeeded",
    "jobs.web.signed_in.SeenMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "kvportal.urls"
ASGI_APPLICATION = "kvportal.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "jobs.web.permission.allowed",
            ],
            "libraries": {"figures": "jobs.web.templatetags.figures"},
        },
    },
]

DATABASES = {"default": database(DATA_DIR)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
    }
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL", default="")
CHANNEL_LAYERS = channel_layers(REDIS_URL)
CACHES = caches(REDIS_URL)
CELERY_BROKER_URL = celery_broker(REDIS_URL)
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # A form does not wait for a broker that is away: the sweep rings later.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.2,
    "interval_max": 0.2,
    "socket_connect_timeout": 2,
}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_REJECT_ON_WORKER_LOST = False
CELERY_WORKER_DISABLE_PREFETCH = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = "inspect"
CELERY_IMPORTS = ["jobs.tasks"]

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_USERNAME_CALLABLE = "jobs.web.session.tried_username"
AXES_LOCKOUT_TEMPLATE = "account/locked.html"
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"

PASSWORD_RESET_TIMEOUT = 24 * 3600  # seconds that a link for a new password works

EMAIL_URL = env.str("EMAIL_URL", default="").strip()
_EMAIL = email(EMAIL_URL)
EMAIL_BACKEND = _EMAIL.get("EMAIL_BACKEND", "django.core.mail.backends.dummy.EmailBackend")
EMAIL_HOST = _EMAIL.get("EMAIL_HOST", "")
EMAIL_PORT = _EMAIL.get("EMAIL_PORT", 25)
EMAIL_HOST_USER = _EMAIL.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = _EMAIL.get("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = _EMAIL.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = _EMAIL.get("EMAIL_USE_SSL", False)
EMAIL_FILE_PATH = _EMAIL.get("EMAIL_FILE_PATH", "")
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="") or "KV Portal <kv-portal@localhost>"
WEBHOOK_URL = env.str("WEBHOOK_URL", default="").strip()  # told where a profile names none of its own

HTTPS = env.bool("HTTPS", default=False)
SECURE_SSL_REDIRECT = HTTPS
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}

API_RATE = rate("API_RATE", default="120/minute")  # of each token
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "jobs.api.authentication.TokenAuthentication",
        "jobs.api.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["jobs.api.permission.InScope"],
    "DEFAULT_THROTTLE_CLASSES": ["jobs.api.throttle.TokenRate"],
    "DEFAULT_PARSER_CLASSES": ["jobs.api.parsing.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "jobs.api.errors.answer_error",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "KV Portal",
    "VERSION": "1",
    "DESCRIPTION": "How much context a model can be given on a device, and with which KV cache strategy: measured. "
    "Bytes are whole numbers; contexts are tokens of prompt and answer together.",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_PUBLIC": True,
    "SORT_OPERATIONS": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "jobs.api.schema.with_errors",
    ],
}

# A file of prompts is read in memory up to its bound; what comes with it in a form is small.
DATA_UPLOAD_MAX_NUMBER_FILES = 1  # each is held in memory while it comes, a stranger's too
FILE_UPLOAD_HANDLERS = ["jobs.web.uploads.BoundedUpload"]
FILE_UPLOAD_MAX_MEMORY_SIZE = 10 * 2**20

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = env.str("STATIC_ROOT", default=str(DATA_DIR / "static"))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

LANGUAGE_CODE = "en-gb"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

RECHECK_HOURS = hours("RECHECK_HOURS", default="1-5")  # None: never
RECHECK_TIME_ZONE = time_zone("RECHECK_TIME_ZONE", default=TIME_ZONE)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "filters": {"secret_paths": {"()": "kvportal.secret_paths.WithoutSecrets"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain", "filters": ["secret_paths"]}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {"jobs": {"level": env.str("LOG_LEVEL", default="INFO")}, "kvportal": {"level": "INFO"}},
}
