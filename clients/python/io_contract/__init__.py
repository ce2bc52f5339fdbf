"""The evaluation server's own package io_contract, as its manual imports it; see warpboard.builder and warpboard.specs."""

from warpboard.builder import IOContractBuilder  # noqa: F401
from warpboard.specs import *  # noqa: F401,F403
from warpboard.tensors import create_io_contract  # noqa: F401
