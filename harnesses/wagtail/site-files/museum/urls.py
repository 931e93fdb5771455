"""Where things are: the admin, documents, uploaded files, and the pages."""

from __future__ import annotations

from django.conf import settings
from django.urls import include, path, re_path
from django.views.static import serve
from wagtail import urls as pages
from wagtail.admin import urls as admin
from wagtail.documents import urls as documents

urlpatterns = [
    path("admin/", include(admin)),
    path("documents/", include(documents)),
    re_path(r"^media/(?P<path>.*)$", serve, {"document_root": settings.MEDIA_ROOT}),
    path("", include(pages)),
]
