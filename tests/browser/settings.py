"""The test settings, with static files served from where they lie: the browser's server collects none."""

from tests.settings import *  # noqa: F403

WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
