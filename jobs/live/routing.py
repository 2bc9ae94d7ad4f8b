from django.urls import path, re_path

from jobs.live.consumer import RunConsumer
from jobs.live.nowhere import NowhereConsumer

websocket_urlpatterns = [
    path("ws/runs/<int:run_id>/", RunConsumer.as_asgi()),
    re_path(r"", NowhereConsumer.as_asgi()),
]
