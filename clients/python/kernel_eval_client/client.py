"""The older client's module; see warpboard.client."""

from warpboard.client import *  # noqa: F401,F403
