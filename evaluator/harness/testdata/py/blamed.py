"""Makes one call whose checker fails, in a ranked stage or not, and says who is blamed, as JSON."""

import json
import sys
import types

sys.path.insert(0, sys.argv[1])
import warpboard_judge  # noqa: E402


def check(data, answer):
    raise warpboard_judge.TaskFailed("the checker failed")


judge = warpboard_judge.Judge.__new__(warpboard_judge.Judge)
judge.ranked = sys.argv[2] == "ranked"
judge.runner = types.SimpleNamespace(call=lambda draw, flags: types.SimpleNamespace(data=None, answer=None), keeps_host=lambda: False)
judge.task = types.SimpleNamespace(check=check)
try:
    good, message, _ = judge.call(types.SimpleNamespace(arguments={}), fresh=False)
    print(json.dumps(f"the answer: {good}, {message}"))
except warpboard_judge.TaskFailed as failure:
    print(json.dumps(f"the task: {failure}"))
