"""The judge of Python tasks of the legacy form.

reference.py has generate_input(), ref_kernel(input) and check_implementation(custom, reference), which returns whether they
agree; train.py, the submission, has custom_kernel(input). A legacy task has one case, whose inputs come from the global
generators, which are seeded again for each call.
"""

import sys

import warpboard_judge
from warpboard_calls import TaskFailed
from warpboard_task import Task, blame


class Case:
    """The only case of a legacy task."""

    spec = "generate_input()"
    arguments = {}

    def fresh(self):
        return self.arguments


class LegacyTask(Task):
    def __init__(self, ranks):
        super().__init__(ranks)
        from reference import ref_kernel

        self._reference = ref_kernel

    def verdict(self, data, answer):
        try:
            expected = self._reference(data)
        except Exception as error:
            raise TaskFailed(blame("ref_kernel", error)) from error
        right = bool(self._check(answer, expected))
        return right, "" if right else "check_implementation failed"


if __name__ == "__main__":
    sys.exit(warpboard_judge.main(LegacyTask, lambda path: [Case()]))
