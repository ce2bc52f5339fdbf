"""The older client's module; see warpboard.models."""

from warpboard.models import *  # noqa: F401,F403
