import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kvportal.settings")
http = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402  (the apps must be ready first)
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from jobs.live.origin import OwnOrigin  # noqa: E402
from jobs.live.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": OwnOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
