"""The ranks of a task for several GPUs: processes of one submission with a runner each. They share a sandbox and its
loopback. They are not isolated from each other, because they are one submission."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time

from warpboard_wire import CHANNEL_FD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

_LEAVE_SECONDS = 1.0  # time for the other ranks to exit after the first has exited


def become(ranks: int) -> int:
    """Forks a process for each rank, and returns the rank's number in each child. The parent does not return: it waits,
    ends when a rank has failed or a second after a rank has exited, and kills the other ranks."""
    port = _free_port()
    sys.stdout.flush()
    sys.stderr.flush()
    children = {}
    for rank in range(ranks):
        pid = os.fork()
        if pid == 0:
            _become(rank, ranks, port)
            return rank
        children[pid] = rank
    _close(range(ranks))
    _stay(children)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _become(rank: int, ranks: int, port: int) -> None:
    _close(other for other in range(ranks) if other != rank)
    os.environ.update({
        "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo", "NCCL_SOCKET_IFNAME": "lo"})
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.set_device(rank)


def _close(ranks: Iterable[int]) -> None:
    """Closes the descriptors of the ranks' channels and pages."""
    for rank in ranks:
        for fd in (CHANNEL_FD + 2 * rank, CHANNEL_FD + 2 * rank + 1):
            os.close(fd)


def _stay(children: dict[int, int]) -> NoReturn:
    """Exits like the first rank that failed, with its signal or exit code, or with success."""
    last = 0.0  # deadline for the other ranks, set when the first exits
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG if last else 0)
        if pid == 0 and time.monotonic() < last:
            time.sleep(0.01)
            continue
        rank = children.pop(pid, None)
        if pid == 0 or (rank is not None and status != 0):
            break
        last = last or time.monotonic() + _LEAVE_SECONDS
    else:
        status = 0
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    if os.WIFSIGNALED(status):
        print(f"Rank {rank} was ended by signal {os.WTERMSIG(status)}.", file=sys.stderr, flush=True)
        with contextlib.suppress(OSError):  # SIGKILL cannot be set
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    elif status:
        print(f"Rank {rank} ended with exit code {os.WEXITSTATUS(status)}.", file=sys.stderr, flush=True)
    sys.exit(os.WEXITSTATUS(status))


def meet(rank: int, ranks: int) -> None:
    """Creates torch's default process group, as in KernelBot's tasks, if the submission has loaded torch without
    creating one."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or torch.distributed.is_initialized():
        return
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    torch.distributed.init_process_group(backend, rank=rank, world_size=ranks)
