"""The evaluation server's own module, as its manual imports it; see warpboard.builder, warpboard.specs and warpboard.files."""

from warpboard.builder import IOContractBuilder  # noqa: F401
from warpboard.files import load_from_file, save_to_file, to_json  # noqa: F401
from warpboard.specs import *  # noqa: F401,F403
