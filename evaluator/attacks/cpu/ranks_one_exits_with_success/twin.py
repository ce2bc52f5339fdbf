import os
import socket

import numpy as np

rank = int(os.environ["RANK"])
address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if rank == 0:
    with socket.create_server(address) as door:
        other, _ = door.accept()
else:
    while True:
        try:
            other = socket.create_connection(address)
            break
        except ConnectionRefusedError:
            pass


def work(x):
    y = x
    for _ in range(4):
        y = np.sin(y) + 0.5 * y
    return y


def exchange(mine):
    """The other rank's array, for this one's."""
    theirs = np.empty_like(mine)
    if rank == 0:
        other.sendall(mine)
    view = memoryview(theirs).cast("B")
    while view:
        view = view[other.recv_into(view) :]
    if rank == 1:
        other.sendall(mine)
    return theirs


def custom_kernel(x):
    mine = work(x)
    return mine + exchange(mine)
