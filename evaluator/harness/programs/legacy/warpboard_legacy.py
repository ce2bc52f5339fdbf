"""The judge of Python tasks of the legacy form.

reference.py has generate_input(), ref_kernel(input) and check_implementation(custom, reference), which returns True if they
agree; train.py, the submission, has custom_kernel(input). A legacy task has one case. Its inputs come from the global
random generators, which the judge seeds again before each call.
"""

from __future__ import annotations

import sys

import warpboard_judge
from warpboard_calls import TaskFailed
from warpboard_cases import Case
from warpboard_task import Task, blame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class OnlyCase(Case):
    """The only case of a legacy task. It has no seed."""

    def __init__(self) -> None:
        self.spec, self.arguments = "generate_input()", {}


class LegacyTask(Task):
    """A legacy task. Its checker compares an answer with the answer of ref_kernel."""

    def __init__(self, ranks: int | None) -> None:
        super().__init__(ranks)
        from reference import ref_kernel

        self._reference = ref_kernel

    def verdict(self, data: Any, answer: Any) -> tuple[bool, str]:
        try:
            expected = self._reference(data)
        except Exception as error:
            raise TaskFailed(blame("ref_kernel", error)) from error
        right = bool(self._check(answer, expected))
        return right, "" if right else "check_implementation failed"


if __name__ == "__main__":
    sys.exit(warpboard_judge.main(LegacyTask, lambda path: [OnlyCase()]))
