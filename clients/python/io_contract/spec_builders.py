"""The names of this module in the evaluation server's manual, so that its examples run; see warpboard.builder,
warpboard.specs and warpboard.files."""

from warpboard.builder import IOContractBuilder  # noqa: F401
from warpboard.files import load_from_file, save_to_file, to_json  # noqa: F401
from warpboard.specs import *  # noqa: F401,F403
