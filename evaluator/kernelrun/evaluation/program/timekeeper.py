"""The judge's memory and clocks: what it shares with the processes of the kernels, and what its clocks' times mean."""

import torch

from sides import NoFlush
from timing import EvaluationClocks
from warpboard_calibrator import CALIBRATIONS, Calibrator
from warpboard_regions import HostMemory, Regions


class Timekeeper:
    def __init__(self, kind, cold, timed):
        """kind is host or cuda; cold says whether each call begins with empty caches."""
        if kind == "cuda" and not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no GPU on this machine")
        self.kind, self.device = kind, "cpu" if kind == "host" else "cuda"
        self._cold, self._cuda = cold, None
        self._ours = Calibrator() if timed else None  # before there is a CUDA context
        if timed:
            self._ours.start(kind)
        self._host = HostMemory() if cold and kind == "host" else NoFlush()
        if kind == "cuda":
            self._cuda = _device()
        if timed:
            self._ours.connect(self._host, [self._cuda])
        self._constants = {}

    def memory(self):
        """(regions, host, device) for a process whose calls are timed."""
        return Regions(self._host, self._cuda), self._host, self._cuda

    @staticmethod
    def quiet():
        """The same for one whose calls are not timed, and which hands over host memory alone."""
        host = NoFlush()
        return Regions(host, None), host, None

    def warm_up(self):
        """Raises the clocks of an idle device; from then on caches are as cold as was asked for."""
        if self._cuda is not None:
            self._cuda.warm_up()
            if not self._cold:
                self._cuda.flush = lambda: None

    def read(self, calls, values, regions, reference, beside):
        """The clocks of one kernel's calls, whose process has ended: of the reference's, or of the other's beside the
        reference's clocks. Two with answers of one size have the same constants."""
        key = min(call.size for call in calls)
        if key not in self._constants:
            self._ours.use([regions])
            self._constants[key] = self._ours.constants(lambda: [values], calls, CALIBRATIONS[self.kind])
        return EvaluationClocks(calls, self._constants[key], reference, beside)


def _device():
    from warpboard_judge_cuda import JudgeMemory

    return JudgeMemory(torch)
