"""A task's own functions, as reference.py gives them."""

import secrets
import sys

from warpboard_calls import TaskFailed
from warpboard_numerics import Unlike, lines


class Task:
    """The task's own functions; their failures raise TaskFailed. ranks is on how many GPUs a call runs, None for a task
    without ranks."""

    def __init__(self, ranks=None):
        self._ranks = ranks
        try:
            from reference import check_implementation, generate_input
        except Exception as error:
            raise TaskFailed(blame("importing reference.py", error)) from error
        self._generate, self._check = generate_input, check_implementation
        self._exactly = getattr(sys.modules["reference"], "reference_fp64", None)

    def draw(self, arguments):
        """New inputs, one for each rank."""
        if self._ranks is None:
            return [self._drawn(arguments)]
        return [self._drawn({**arguments, "rank": rank}, rank) for rank in range(self._ranks)]

    def _drawn(self, arguments, device=None):
        """A new input. Generators that the task may use without seeding them are seeded again each time."""
        random = sys.modules.get("random")
        if random is not None:
            random.seed(secrets.randbits(128))
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed([secrets.randbits(32) for _ in range(4)])
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(secrets.randbits(63))
            if device is not None and sys.modules["torch"].cuda.is_available():
                sys.modules["torch"].cuda.set_device(device)
        try:
            return self._generate(**arguments)
        except Exception as error:
            raise TaskFailed(blame("generate_input", error)) from error

    def check(self, inputs, answers):
        """Returns (right?, message)."""
        try:
            if self._ranks is None:
                return self.verdict(inputs[0], answers[0])
            return self.verdict(inputs, answers)
        except TaskFailed:
            raise
        except Exception as error:
            raise TaskFailed(blame("check_implementation", error) + " Either the answer's type or shape is not what the "
                             "task asks for, or the checker has a fault.") from error

    def verdict(self, data, answer):
        result = self._check(data, answer)
        if isinstance(result, tuple):
            good, message = result
            return bool(good), str(message or "")
        return not result, str(result or "")

    def numerics(self, inputs, answers):
        """Yields (field, value): how far right answers are from the task's reference_fp64, if it has one. Its failures are
        only notes: it decides nothing."""
        if self._exactly is None:
            return
        try:
            reference = self._exactly(inputs if self._ranks is not None else inputs[0])
            yield from lines(answers if self._ranks is not None else answers[0], reference)
        except Unlike as unlike:
            yield "note", f"{unlike}."
        except Exception as error:
            yield "note", blame("reference_fp64", error)
        if "torch" in sys.modules and sys.modules["torch"].cuda.is_initialized():
            sys.modules["torch"].cuda.empty_cache()  # the runner needs the memory


def blame(where, error):
    """Names the task's function and its exception."""
    text = str(error).strip()
    return f"{where} raised {type(error).__name__}: {text.splitlines()[0][:300] if text else 'no message'}."
