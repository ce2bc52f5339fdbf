"""The older client's module models, so that its scripts run unchanged; see warpboard.models."""

from warpboard.models import *  # noqa: F401,F403
