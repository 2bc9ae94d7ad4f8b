from django.urls import path, re_path

from jobs.api.schema import Described
from jobs.api.views.nowhere import Nowhere

urlpatterns = [
    path("schema/", Described.as_view(), name="api-schema"),
    re_path("", Nowhere.as_view(), name="api-nowhere"),
]
