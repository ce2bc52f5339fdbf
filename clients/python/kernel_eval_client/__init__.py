"""The package warpboard under the name of the older client, so that its scripts run unchanged."""

from warpboard import *  # noqa: F401,F403
from warpboard import __all__, __version__  # noqa: F401
