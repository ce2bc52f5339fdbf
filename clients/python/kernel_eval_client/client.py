"""The older client's module client, so that its scripts run unchanged; see warpboard.client."""

from warpboard.client import *  # noqa: F401,F403
