"""The older client's module specs, so that its scripts run unchanged; see warpboard.specs and warpboard.files."""

from warpboard.files import load_from_file, save_to_file, to_json  # noqa: F401
from warpboard.specs import *  # noqa: F401,F403
