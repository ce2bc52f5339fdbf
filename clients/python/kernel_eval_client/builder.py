"""The older client's module builder, so that its scripts run unchanged; see warpboard.builder."""

from warpboard.builder import *  # noqa: F401,F403
