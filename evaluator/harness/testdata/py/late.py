"""Releases one call with a runner and a device that only note what they are asked for, and says in which order, as JSON."""

import json
import sys
import types

sys.path.insert(0, sys.argv[1])
import warpboard_calls  # noqa: E402

late, foreseen, described = json.loads(sys.argv[2])
order = []


def note(what, gives=None):
    return lambda *_: order.append(what) or gives


class Answer:
    queue, take = note("queue copies"), note("take")
    sampled = note("sample", True)


page = types.SimpleNamespace(done=0, release=0, let_in=note("let in"), wait_active=note("active"), open=note("release", 1),
                             wait_done=note("done", 1), wait_queued=note("queued", described), description=lambda: described)
cuda = types.SimpleNamespace(let_go=note("let go"), open_gate=note("open"), make_current=lambda: None, key=None)
runner = warpboard_calls.Runner.__new__(warpboard_calls.Runner)
vars(runner).update(page=page, cuda=cuda, channel=None, number=7, early=False, made=0, longest=0, make_current=lambda: None, expect=Answer, _seen=[(foreseen, None), ("the last", None)])
call = warpboard_calls._GatedCall(runner, None, [], [], 0, b"")
call.late = late
if not late or foreseen is not None:
    call.answer, call._foreseen = Answer(), foreseen
try:
    _, _, end, sampled, taken = warpboard_calls.Ranks([runner])._release([call])
except warpboard_calls.Refused as refusal:
    print(json.dumps({"refused": str(refusal)}))
    sys.exit()
print(json.dumps({"order": order[4:], "by_done": end == 1, "taken": taken > sampled > end, "next": runner._seen[0][0]}))
