"""How often a token may ask."""

import logging
import time

from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from jobs.models import ApiToken

logger = logging.getLogger(__name__)
SECONDS = {"second": 1, "minute": 60, "hour": 3600}


class TokenRate(BaseThrottle):
    """API_RATE requests of one token in each second, minute or hour of the clock, counted for all processes together.

    While the cache is away nobody is turned away for it.
    """

    left_s: float | None = None

    def allow_request(self, request: Request, view: object) -> bool:
        most, _, unit = settings.API_RATE.partition("/")
        window_s = SECONDS[unit]
        now = time.time()
        key = f"api-rate:{_who(request)}:{int(now // window_s)}"
        try:
            cache.add(key, 0, timeout=2 * window_s)
            asked = cache.incr(key)
        except (RedisError, ValueError) as error:  # away, or the key ended in between
            logger.warning("a request was not counted: %s", error)
            return True
        self.left_s = window_s - now % window_s
        return asked <= int(most)

    def wait(self) -> float | None:
        return self.left_s


def _who(request: Request) -> str:
    token = request.auth
    return token.token_sha256[:32] if isinstance(token, ApiToken) else f"user-{request.user.pk}"
