"""Waits for a runner that never says that it is ready, and prints why that ends."""

import socket
import sys

sys.path.insert(0, sys.argv[1])
from warpboard_wire import Channel, Refused  # noqa: E402

ours, theirs = socket.socketpair()
try:
    Channel(ours).ready(0.01)
except Refused as refusal:
    print(refusal, end="")
