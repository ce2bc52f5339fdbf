"""Prints, as a report, how far answers of several types are from references."""

import pathlib
import sys

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "programs" / "py"))
import warpboard_task  # noqa: E402

inf, nan = numpy.inf, numpy.nan
wide = numpy.ones((2, 100))
off = wide.astype("float32")
off[1, 99] = 1.5
pairs = [
    (numpy.array([1, inf, nan, 0, -0.0, inf], "float32"), numpy.array([1, 1e39, nan, 0, 0, 3])),
    (off, wide),
    (numpy.array([1, 0], "float16"), numpy.array([1 + 2**-11, 2**-25])),
    ([numpy.ones(2, "float32"), {"x": 3, "y": numpy.array([2], "float32")}], [numpy.ones(2), {"x": 3, "y": numpy.array([2 + 2**-23])}]),
    (numpy.array([1 + 1j], "complex64"), numpy.array([1 + (1 + 2**-23) * 1j])),
    (numpy.float32(0), 2.0**-126),
    (off, off),
    (numpy.ones(3, "float32"), numpy.ones(2)),
    ((off, off), (wide,)),
    (torch.tensor([[1.0, inf, nan]], dtype=torch.bfloat16), torch.tensor([[1 + 2**-8, 1e39, nan]], dtype=torch.float64)),
    ([torch.ones(2), numpy.ones(1, "float32")], [numpy.array([1.0, 1.0]), numpy.array([1 + 2**-23])]),
    (torch.tensor([1 + 1j]), torch.tensor([1 + (1 + 2**-23) * 1j], dtype=torch.complex128)),
]
for index, (answer, reference) in enumerate(pairs):
    task = warpboard_task.Task.__new__(warpboard_task.Task)
    task._ranks, task._exactly = None, lambda data: data
    for field, value in task.numerics([reference], [answer]):
        print(f"test.{index}.numerics.{field}: {value}")
