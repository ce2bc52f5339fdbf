"""The names of the package io_contract in the evaluation server's manual, so that its examples run; see
warpboard.builder and warpboard.specs."""

from warpboard.builder import IOContractBuilder  # noqa: F401
from warpboard.specs import *  # noqa: F401,F403
from warpboard.tensors import create_io_contract  # noqa: F401
