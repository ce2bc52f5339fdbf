"""The older client's module; see warpboard.builder."""

from warpboard.builder import *  # noqa: F401,F403
