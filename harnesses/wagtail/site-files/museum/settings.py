"""Settings of the museum's site: one person is signed in, nothing leaves the machine, nothing is kept but data."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

_database = urlsplit(os.environ["MUSEUM_DSN"])

SECRET_KEY = "a loopback site that lives for an hour"
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
INSTALLED_APPS = [
    "museum",
    "wagtail.contrib.redirects",
    "wagtail.sites",
    "wagtail.users",
    "wagtail.documents",
    "wagtail.images",
    "wagtail.embeds",
    "wagtail.search",
    "wagtail.admin",
    "wagtail",
    "modelcluster",
    "taggit",
    "django_filters",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "museum.signed_in.SignedIn",
    "django.contrib.messages.middleware.MessageMiddleware",
    "wagtail.contrib.redirects.middleware.RedirectMiddleware",
]
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
ROOT_URLCONF = "museum.urls"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _database.path.strip("/"),
        "USER": unquote(_database.username or ""),
        "PASSWORD": unquote(_database.password or ""),
        "HOST": _database.hostname or "",
        "PORT": _database.port or 5432,
        "CONN_HEALTH_CHECKS": True,
    }
}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast; nobody's password is worth anything here
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
MEDIA_URL = "/media/"
MEDIA_ROOT = Path(os.environ["MUSEUM_MEDIA"])
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
LOGGING = {"version": 1, "loggers": {"django.server": {"level": "WARNING"}}}

WAGTAIL_SITE_NAME = "Harbour Museum"
WAGTAILADMIN_BASE_URL = "http://127.0.0.1"
WAGTAIL_AUTOSAVE_INTERVAL = 0  # what is saved, somebody has saved
WAGTAILREDIRECTS_AUTO_CREATE = False
WAGTAIL_WORKFLOW_ENABLED = False
WAGTAIL_ENABLE_UPDATE_CHECK = False
WAGTAIL_ENABLE_WHATS_NEW_BANNER = False
WAGTAIL_GRAVATAR_PROVIDER_URL = None
WAGTAILADMIN_COMMENTS_ENABLED = False
