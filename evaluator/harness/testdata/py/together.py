"""Makes a call of two ranks whose devices only note what is queued, and says what began when, as JSON."""

import json
import sys
import types

sys.path.insert(0, sys.argv[1])
import warpboard_calls  # noqa: E402
import warpboard_judge_cuda  # noqa: E402
from warpboard_wire import CUDA, SEALED  # noqa: E402

known, fails = json.loads(sys.argv[2])  # whether each device has written such sizes before; whether queueing rank 1's copies does
order = []
warpboard_judge_cuda.driver = lambda: types.SimpleNamespace(cuCtxResetPersistingL2Cache=lambda: None)


def note(rank, what, gives=None):
    return lambda *_: order.append((rank, what)) or gives


def copies(rank):
    def queue():
        order.append((rank, "copies"))
        if fails and rank == 1:
            raise RuntimeError("the copies cannot be queued")

    return queue


def array():
    return types.SimpleNamespace(numel=lambda: 8, data_ptr=lambda: 0, copy_=lambda _: None)


def device(rank):
    made = warpboard_judge_cuda.JudgeMemory.__new__(warpboard_judge_cuda.JudgeMemory)
    hold = types.SimpleNamespace(
        block=note(rank, "block"), begin=note(rank, "begin"), queue=note(rank, "hold"), wait_running=note(rank, "held", True),
        start=note(rank, "start"), let_go=note(rank, "let go"), duration=lambda: 0, key=None, whole=frozenset())
    torch = types.SimpleNamespace(cuda=types.SimpleNamespace(synchronize=lambda: None, OutOfMemoryError=MemoryError))
    vars(made).update(_torch=torch, _device=None, _hold=hold, cold=False, _written={(8,)} if known[rank] else set(),
                      _gate_word=[0], _number=0, changed=lambda: False)
    return made


def runner(rank):
    page = types.SimpleNamespace(
        done=0, release=0, let_in=lambda _: None, wait_queued=lambda *_: 1, wait_active=lambda *_: 1, open=lambda *_: 1, finish_waits=lambda _: None,
        wait_done=lambda *_: 1, wait_nanoseconds=lambda _: 1.0, leave=lambda _: None)
    answer = types.SimpleNamespace(parts=[], queue=lambda *_: copies(rank)(), sampled=lambda: False, take=lambda: None, value=lambda: None)
    made = warpboard_calls.Runner.__new__(warpboard_calls.Runner)
    regions = types.SimpleNamespace(memory={(SEALED, CUDA): types.SimpleNamespace(address=0)})
    vars(made).update(page=page, cuda=device(rank), channel=None, number=7, regions=regions, last=[], early=False, made=0, longest=0, expect=lambda: answer)
    made.ask = lambda data, flags: warpboard_calls._GatedCall(made, data, [], [(array(), array())], 0, b"")
    return made


made, error = None, None
try:
    made = warpboard_calls.Ranks([runner(0), runner(1)]).call(lambda: [None, None])
except RuntimeError as failure:
    error = str(failure)
began = [order.index((rank, "start" if (rank, "block") in order else "begin")) for rank in (0, 1)]
queued = [order.index((rank, what)) for rank in (0, 1) for what in ("hold", "copies")]
kept = [order[order.index((rank, "begin")) + 1] == (rank, "hold") for rank in (0, 1)]
print(json.dumps({
    "at_once": made is not None and made.at_once, "after_all_is_queued": min(began) > max(queued), "kept_behind_its_input": kept,
    "started": [(rank, "start") in order for rank in (0, 1)], "error": error or ""}))
