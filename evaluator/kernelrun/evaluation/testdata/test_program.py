"""What the program does that needs no GPU: python3 -m unittest, with the program on PYTHONPATH."""

import base64
import contextlib
import io
import itertools
import json
import math
import os
import random
import re
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import zlib

import numpy
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import compare
import compiled
import contract
import deciding
import evaluate
import inline
import kernel_process
import kernels
import nvrtc
import outputs
import packing
import reusing
import seeding
import sides
import timekeeper
import timing
import trials
import trivial
import warpboard_answer
import warpboard_compare
import warpboard_cuda
import warpboard_layout
import warpboard_runner
from cases import Cases
from sides import NoFlush
from stages import OutOfTime, Stages
from timekeeper import Timekeeper
from warpboard_calibrator import Calibrator, by_our_runner
from warpboard_answer import NoRoom
from warpboard_calls import Call, Ranks, Runner, TaskFailed
from warpboard_clocks import Clocks, Constants
from warpboard_judge import Judge
from warpboard_regions import Regions
from warpboard_wire import ANSWERS, CUDA, END, HOST, INPUTS, PAGE_SIZE, READY, Channel, Refused, RunnerGone, TooLarge, shared_memory

HUNDREDTH = compare.Tolerance(0.01, 0.01)
FLOATS = ("float64", "float32", "float16", "bfloat16")
INTS = ("int64", "int32", "int16", "int8", "uint8")


def tensor(spec, secret=None, position=0):
    return contract.make_tensor({"name": "x", "tensor_spec": spec}, position, secret, "cpu")


class Init(unittest.TestCase):
    def test_every_kind_has_every_dtype_and_shape(self):
        for kind in ("randn", "uniform", "zeros", "ones", "full", "arange"):
            for dtype in (*FLOATS, *INTS, "bool", "complex64", "complex128"):
                for shape in ([4], [2, 3], [2, 3, 4]):
                    made = tensor({"shape": shape, "dtype": dtype, "init": {"kind": kind, "fill_value": 3}})
                    self.assertEqual((list(made.shape), made.dtype), (shape, getattr(torch, dtype)), kind)

    def test_a_seed_repeats_and_another_or_a_later_trial_does_not(self):
        spec = {"shape": [64], "init": {"kind": "randn", "seed": 42}}
        other = {"shape": [64], "init": {"kind": "randn", "seed": 43}}
        self.assertTrue(torch.equal(tensor(spec), tensor(spec, position=5)))
        self.assertFalse(torch.equal(tensor(spec), tensor(other)))
        self.assertFalse(torch.equal(tensor(spec), tensor(spec, secret=b"1")))
        self.assertFalse(torch.equal(tensor(spec, secret=b"2"), tensor(spec, secret=b"1")))
        unseeded = {"shape": [64], "init": {"kind": "randn"}}
        self.assertTrue(torch.equal(tensor(unseeded), tensor(unseeded)))
        self.assertFalse(torch.equal(tensor(unseeded), tensor(unseeded, position=1)))

    def test_mean_and_deviation_count_each_alone(self):
        wide = tensor({"shape": [20000], "init": {"kind": "randn", "std": 2.0}})
        far = tensor({"shape": [20000], "init": {"kind": "randn", "mean": 5.0}})
        self.assertAlmostEqual(float(wide.std()), 2, delta=0.1)
        self.assertAlmostEqual(float(far.mean()), 5, delta=0.1)

    def test_zero_is_a_bound(self):
        made = tensor({"shape": [1000], "init": {"kind": "uniform", "low": -1.0, "high": 0.0}})
        self.assertTrue(-1 <= float(made.min()) < -0.9 and -0.1 < float(made.max()) <= 0)
        whole = tensor({"shape": [1000], "dtype": "int32", "init": {"kind": "uniform", "low": 3, "high": 4}})
        self.assertEqual(sorted(whole.unique().tolist()), [3, 4])

    def test_both_parts_of_a_complex_number_are_drawn(self):
        made = tensor({"shape": [20000], "dtype": "complex64", "init": {"kind": "uniform", "low": -3.0, "high": -1.0}})
        for part in (made.real, made.imag):
            self.assertTrue(-3 <= float(part.min()) < -2.9 and -1.1 < float(part.max()) <= -1)
        self.assertFalse(torch.equal(made.real, made.imag))
        wide = tensor({"shape": [20000], "dtype": "complex128", "init": {"kind": "randn", "std": 2.0, "mean": 1.0}})
        self.assertAlmostEqual(float(wide.std()), 2, delta=0.1)
        self.assertAlmostEqual(float(wide.real.mean()), 1, delta=0.1)

    def test_arange_counts_along_the_last_dimension(self):
        made = tensor({"shape": [2, 3], "init": {"kind": "arange", "start": 1, "step": 0.5}})
        self.assertEqual(made.tolist(), [[1, 1.5, 2], [1, 1.5, 2]])

    def test_what_cannot_be_made_is_said_with_the_arguments_name(self):
        for spec, text in (
            (None, "Tensor argument 'x' requires tensor_spec"),
            ({"init": {"kind": "magic"}}, "Tensor argument 'x': Unsupported init kind: magic"),
            ({"dtype": "float7"}, f"Tensor argument 'x': PyTorch {torch.__version__} on this device has no float7; it has float64, "),
            ({"shape": [-4]}, "Tensor argument 'x': .*negative dimension"),
            ({"shape": [1], "dtype": "int32", "init": {"kind": "uniform", "high": math.inf}}, "Tensor argument 'x': cannot convert float infinity"),
            ({"shape": [1], "init": {"kind": "full", "fill_value": 10**400}}, "Tensor argument 'x': "),
            ({"shape": [2**63]}, "Tensor argument 'x': "),
        ):
            with self.assertRaisesRegex(contract.ContractError, text):
                tensor(spec)

    def test_a_number_that_no_scalar_holds_is_said(self):
        with self.assertRaisesRegex(contract.ContractError, "Scalar argument 'n': "):
            contract.make_scalar({"name": "n", "type": "float", "value": 10**400})

    def test_a_tensor_without_content_holds_poison(self):
        self.assertTrue(torch.isnan(tensor({"shape": [3]})).all())
        self.assertEqual(tensor({"shape": [1], "dtype": "int8"}).tolist(), [126])


class Reading(unittest.TestCase):
    def test_a_request_that_python_cannot_read_is_refused_and_no_fault_of_the_worker(self):
        for text in ('{"a": ' + "1" * 5000 + "}", '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"):
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                for name, content in (("request.json", text), ("limit", "9")):
                    with open(name, "w", encoding="utf-8") as file:
                        file.write(content)
                with open("pipe", "w", encoding="utf-8") as pipe, unittest.mock.patch.dict(os.environ, {"POPCORN_FD": str(pipe.fileno())}):
                    code = evaluate.main("test")
                with open("pipe", encoding="utf-8") as pipe:
                    said = json.load(pipe)
            self.assertEqual((code, list(said)), (evaluate.EXIT_REFUSED, ["refused"]))
            self.assertIn("The request cannot be read", said["refused"])

    def test_a_report_that_the_worker_would_ignore_is_refused(self):
        with tempfile.TemporaryFile("w+") as file, unittest.mock.patch.dict(os.environ, {"POPCORN_FD": str(file.fileno())}):
            pipe = evaluate.Pipe()
            with self.assertRaisesRegex(Refused, "5.7 MiB, and 4 MiB are the most"):
                pipe.tell(report={"cases": [{"arguments": {"text": "é" * 250_000}}] * 4})
            pipe.tell(compiled="x" * (5 << 20))  # without compiled files, a later run compiles again
            pipe.tell(report={"cases": [{"arguments": {"text": "é" * 250_000}}] * 2})
            self.assertEqual([list(json.loads(line)) for line in (file.seek(0), *file)[1:]], [["compiled"], ["report"]])


class Data(unittest.TestCase):
    def test_bytes_come_back(self):
        for shape in ([], [5], [2, 3], [2, 1, 3], [1, 2, 2, 2], [0]):
            values = torch.arange(math.prod(shape)).reshape(shape)
            for dtype in ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "complex64", "complex128"):
                want = values.to(getattr(torch, dtype))
                for compress in ("none", "zlib"):
                    raw = want.numpy().tobytes()
                    raw = zlib.compress(raw) if compress == "zlib" else raw
                    data = {"data_b64": base64.b64encode(raw).decode(), "dtype": dtype, "shape": shape, "compress": compress}
                    self.assertTrue(torch.equal(tensor({"data": data}), want), (shape, dtype, compress))

    def test_bfloat16_is_possible_and_the_specs_shape_stands_in(self):
        raw = torch.ones(4, dtype=torch.bfloat16).view(torch.int16).numpy().tobytes()
        made = tensor({"shape": [2, 2], "data": {"data_b64": base64.b64encode(raw).decode(), "dtype": "bfloat16", "shape": []}})
        self.assertEqual(made.tolist(), [[1, 1], [1, 1]])

    def test_wrong_bytes_are_said(self):
        for data, text in (("AAA=", "has 2 bytes"), ("!", "cannot be decoded")):
            with self.assertRaisesRegex(contract.ContractError, text):
                tensor({"data": {"data_b64": data}})


class Kernels(unittest.TestCase):
    """Kernels of functions; the program's own files go to a directory of the test."""

    def setUp(self):
        self.home, self.before = tempfile.TemporaryDirectory(), os.getcwd()
        os.chdir(self.home.name)

    def tearDown(self):
        os.chdir(self.before)
        self.home.cleanup()

    def function(self, source, label, *args):
        io = {"args": [{"name": n, "type": "tensor", "role": role, "tensor_spec": spec} for n, role, spec in args]} if args else None
        code = {"source_code": source, "kernel_type": "torch", "io": io, "metadata": {"function_name": "f"}}
        kernel = kernels.make(code, label, "cpu")
        kernel.compile()
        return kernel

    def compare(self, ref, custom):
        """Whether two functions agree on fresh inputs of their contracts."""
        inputs = sides.Inputs({"ref": {"io": ref.io}, "custom": {"io": custom.io}}, "cpu", None)
        for trial in range(2):
            values = inputs.draw(trial, sides.secret_of(trial))
            (left, expected), (right, actual) = (outputs.take_apart(kernel([v.clone() for v in values[label]])) for label, kernel in (("ref", ref), ("custom", custom)))
            actual = outputs.pair(outputs.Form.read(left, len(expected)), outputs.Form.read(right, len(actual))).sort(actual)
            compare.check_form(expected, actual)
            if not compare.differences(expected, actual, compare.Tolerance(1e-6, 1e-6))[0]:
                return False
        return True

    def test_inputs_of_one_name_are_the_same_wherever_they_stand(self):
        drawn, empty = {"shape": [8], "init": {"kind": "randn"}}, {"shape": [8]}
        ref = self.function("def f(x, y): return x - 2 * y", "ref", ("x", "input", drawn), ("y", "input", drawn))
        for names in ("x", "y"), ("p", "q"):
            custom = self.function("def f(out, x, y): out.copy_(x - 2 * y)", "custom",
                                   ("out", "output", empty), (names[0], "input", drawn), (names[1], "input", drawn))
            self.assertTrue(self.compare(ref, custom), names)
        swapped = self.function("def f(y, x): return x - 2 * y", "custom", ("y", "input", drawn), ("x", "input", drawn))
        self.assertTrue(self.compare(ref, swapped))

    def test_every_tensor_of_what_is_returned_counts(self):
        x = ("x", "input", {"shape": [8], "init": {"kind": "randn"}})
        for good, bad in (
            ("(x, ([x * 2],))", "(x, ([x * 3],))"), ("{'a': {'b': x}}", "{'a': {'b': -x}}"),
            ("torch.complex(x, x)", "torch.complex(x, -x)"), ("torch.complex(x, x)", "torch.complex(-x, x)"),
        ):
            ref = self.function("import torch\ndef f(x): return " + good, "ref", x)
            self.assertTrue(self.compare(ref, ref), good)
            self.assertFalse(self.compare(ref, self.function("import torch\ndef f(x): return " + bad, "custom", x)), bad)

    def test_outputs_without_elements_are_never_right(self):
        empty = self.function("def f(x): return x[:0]", "ref", ("x", "input", {"shape": [8], "init": {"kind": "ones"}}))
        with self.assertRaisesRegex(compare.Mismatch, "No output has an element"):
            self.compare(empty, empty)

    def test_outputs_of_another_form_are_told_with_both_forms(self):
        floats = torch.ones(1000)
        for expected, actual, said in (
            ([floats], [floats[:5]], "Shape mismatch: ref=[torch.Size([1000])], custom=[torch.Size([5])]"),
            ([floats], [floats.double()], "Dtype mismatch: ref=['torch.float32'], custom=['torch.float64']"),
            ([], [], "Neither kernel produced a tensor: there is nothing to compare. Return a tensor, or mark one as output."),
        ):
            with self.assertRaises(compare.Mismatch) as raised:
                compare.check_form(expected, actual)
            self.assertEqual(str(raised.exception), said)
        compare.check_form([floats], [floats])
        with self.assertRaisesRegex(compare.Mismatch, "Neither kernel produced a tensor"):
            one = self.function("def f(x): return None", "ref", ("x", "input", {"shape": [8]}))
            self.compare(one, one)

    def test_what_does_not_fit_a_function_is_said_with_its_signature(self):
        kernel = self.function("def f(a, b): return a", "custom", ("x", "input", {"shape": [8]}))
        with self.assertRaisesRegex(contract.ContractError, r"f\(a, b\) cannot be called with the contract's 1 args"):
            kernel([torch.ones(8)])

    def test_only_the_first_inputs_are_the_contracts_own(self):
        def arguments(kind):
            return {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [8], "init": {"kind": kind, "seed": 3}}}]}

        for kind, fresh in (("randn", True), ("ones", False)):
            inputs = sides.Inputs({"custom": {"io": arguments(kind)}}, "cpu", None)
            first, *drawn = [inputs.draw(trial, sides.secret_of(trial))["custom"][0] for trial in range(4)]
            self.assertTrue(torch.equal(first, tensor({"shape": [8], "init": {"kind": kind, "seed": 3}})))
            self.assertEqual(inputs.fresh, fresh)
            self.assertEqual([torch.equal(one, first) for one in drawn], [not fresh] * 3)

    def test_tensors_of_one_seed_are_equal_in_every_trial_and_others_are_not(self):
        def seeded(*seeds):
            return {"args": [{"name": f"x{i}", "type": "tensor", "tensor_spec": {"shape": [8], "init": {"kind": "randn", "seed": seed}}}
                             for i, seed in enumerate(seeds)]}

        for ref, custom in ((None, seeded(7, 7, 8, None, None)), (seeded(7), seeded(7, 7, 8, None, None))):
            inputs = sides.Inputs({"ref": ref and {"io": ref}, "custom": {"io": custom}}, "cpu", None)
            before = []
            for trial in range(4):
                first, second, *others = inputs.draw(trial, sides.secret_of(trial))["custom"]
                self.assertTrue(torch.equal(first, second), trial)
                distinct = [first, *others, *before]
                for i, one in enumerate(distinct):
                    self.assertFalse(any(torch.equal(one, other) for other in distinct[:i]), (trial, i))
                before = [*before, first, *others]

    def test_an_input_of_both_kernels_is_drawn_once(self):
        def arg(name, role="input", **init):
            return {"name": name, "type": "tensor", "role": role, "tensor_spec": {"shape": [8], "init": {"kind": "randn", **init}}}

        ref = {"args": [arg("x"), arg("y", seed=2), arg("z", seed=3), arg("out", "output")]}
        custom = {"args": [{"name": "n", "type": "int", "value": 8}, arg("y", seed=2), arg("x"), arg("z", seed=4), arg("out", "output")]}
        made = []
        make = contract.make_tensor
        with unittest.mock.patch.object(contract, "make_tensor", lambda arg, *rest: made.append(arg["name"]) or make(arg, *rest)):
            drawn = sides.Inputs({"ref": {"io": ref}, "custom": {"io": custom}}, "cpu", None).draw(1, sides.secret_of(1))
        self.assertEqual(made, ["x", "y", "z", "out", "z", "out"])
        (x, y, z, out), (_, *others) = drawn["ref"], drawn["custom"]
        self.assertEqual([torch.equal(*pair) for pair in zip((y, x, z, out), others)], [True, True, True, False])
        for name in ("x", "", None):  # inputs that names do not tell apart belong together by their places
            io = {"args": [arg(name), arg("y"), arg(name)]}
            drawn = sides.Inputs({"ref": {"io": io}, "custom": {"io": io}}, "cpu", None).draw(1, sides.secret_of(1))
            self.assertTrue(all(map(torch.equal, drawn["ref"], drawn["custom"])), name)
            self.assertFalse(torch.equal(drawn["ref"][0], drawn["ref"][2]))

    def test_tensors_of_one_seed_and_another_kind_say_nothing_of_each_other(self):
        def seeded(*inits, shape=(100,)):
            return {"args": [{"name": f"x{i}", "type": "tensor", "tensor_spec": {"shape": list(shape), "init": {"kind": "randn", "seed": 7, **init}}}
                             for i, init in enumerate(inits)]}

        inputs = sides.Inputs({"ref": {"io": seeded({})}, "custom": {"io": seeded({}, {"mean": 1, "std": 2})}}, "cpu", None)
        x, y = inputs.draw(1, sides.secret_of(1))["custom"]
        self.assertFalse(torch.allclose(x * 2 + 1, y))
        inputs = sides.Inputs({"ref": {"io": seeded({})}, "custom": {"io": seeded({"mean": 1, "std": 2}, shape=(10, 10))}}, "cpu", None)
        drawn = inputs.draw(1, sides.secret_of(1))  # the same input in another shape
        self.assertTrue(torch.equal(drawn["ref"][0].view(10, 10), drawn["custom"][0]))

    def test_a_side_without_inputs_takes_the_others(self):
        io = {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [8], "init": {"kind": "randn"}}}]}
        for ref, custom in ((io, None), (None, io)):
            values = sides.Inputs({"ref": {"io": ref}, "custom": {"io": custom}}, "cpu", None).draw(1, sides.secret_of(1))
            self.assertTrue(torch.equal(values["ref"][0], values["custom"][0]))
        with self.assertRaisesRegex(compare.Mismatch, "Could not determine inputs"):
            sides.Inputs({"custom": {"io": None}}, "cpu", None).draw(0, None)


    def test_a_compiled_baseline_is_called_with_the_values_of_the_original(self):
        code = {"source_code": "def f(x): return x * 2", "kernel_type": "torch", "metadata": {"function_name": "f"}, "torch_compile": True,
                "io": {"args": [{"name": name, "type": "tensor", "role": role, "tensor_spec": {"shape": [3]}} for name, role in (("y", "output"), ("x", "input"))]}}
        kernel, called = kernels.make(code, "ref", "cpu"), []
        with unittest.mock.patch.object(torch, "compile", lambda f: lambda *args: called.append(args) or f(*args), create=True):
            kernel.compile()
        self.assertEqual(kernel([torch.zeros(3), torch.ones(3)]).tolist(), [2, 2, 2])
        self.assertEqual([len(args) for args in called], [1])
        if not hasattr(torch, "compile"):
            with self.assertRaisesRegex(kernels.CompileError, "has no torch.compile"):
                kernels.make(code, "ref", "cpu").compile()


    def test_a_setup_sees_no_values_of_arrays(self):
        hidden = 12345.5
        inputs = sides.Inputs({"custom": {"io": None}, "inputs": "custom"}, "cpu", unittest.mock.Mock())
        drawn = [torch.full((2, 3), hidden), numpy.full(4, hidden), (3, "relu", None, {"x": torch.ones(1, dtype=torch.bfloat16)}), [hidden] * 17, torch.float16]
        with unittest.mock.patch.object(inputs, "_generated", return_value=drawn) as generated:
            meta = inputs.meta("custom")
        self.assertEqual(meta, [{"shape": [2, 3], "dtype": "float32"}, {"shape": [4], "dtype": "float64"},
                                [{"value": 3}, {"value": "relu"}, {"value": None}, {"x": {"shape": [1], "dtype": "bfloat16"}}], {"length": 17}, {"type": "dtype"}])
        self.assertNotEqual(generated.call_args.args[0], None)  # the secret: the first trial has none


class Launch(unittest.TestCase):
    def dims(self, grid, **scalars):
        args = [{"name": n, "type": "int", "value": v} for n, v in scalars.items()]
        return contract.launch_dims({"args": args, "launch": {"grid": grid}}, "grid", (1, 1, 1))

    def test_sizes_may_be_expressions_over_scalars(self):
        self.assertEqual(self.dims({"x": "cdiv(n, 256)", "y": "n // 2 + 1"}, n=1000), (4, 501, 1))
        self.assertEqual(self.dims({"x": "max(m, n) % 7"}, n=10, m=12), (5, 1, 1))
        self.assertEqual(self.dims(None), (1, 1, 1))

    def test_nothing_but_arithmetic_is_evaluated(self):
        for text in ("__import__('os')", "n.real", "n ** 9", "k", "cdiv(n", "n // 0"):
            with self.assertRaises(contract.ContractError, msg=text):
                self.dims({"x": text}, n=3)


class Signatures(unittest.TestCase):
    def test_every_way_to_write_a_kernel_is_read(self):
        found = nvrtc.signatures("""
            // __global__ void commented(int a);
            #define KERNEL __global__
            extern "C" __global__ void plain(const float* x, int n) {}
            __global__ void __launch_bounds__(256, 2) bounded(float* y, std::pair<int, int> p) {}
            __global__ __launch_bounds__((1 << 8)) void bounded_first(size_t n);
            template <typename T> __global__ void generic(T* x, T value) {}
            __global__ void nothing() {}
        """)
        self.assertEqual(found, {
            "plain": ["const float* x", "int n"], "bounded": ["float* y", "std::pair<int, int> p"],
            "bounded_first": ["size_t n"], "generic": ["T* x", "T value"], "nothing": [],
        })

    def test_long_text_that_is_no_kernel_takes_no_time(self):
        self.assertEqual(nvrtc.signatures("__global__ " + "word " * 100_000), {})

    def test_scalars_have_the_width_that_the_kernel_says(self):
        for value, declared, size, want in (
            (2.5, "float alpha", 4, struct.pack("<f", 2.5)), (2.5, "double alpha", 8, struct.pack("<d", 2.5)),
            (3, "float alpha", 4, struct.pack("<f", 3)), (2.5, "__half h", 2, struct.pack("<e", 2.5)),
            (-1, "int n", 4, b"\xff" * 4), (7, "const int64_t n", None, struct.pack("<q", 7)), (1.5, "T value", 4, struct.pack("<f", 1.5)),
            (1.0, "__nv_bfloat16 b", 2, b"\x80\x3f"), (True, "bool b", 1, b"\x01"), (2**31, "unsigned n", 4, b"\x00\x00\x00\x80"),
        ):
            self.assertEqual(nvrtc.pack_scalar(value, declared, size), want, declared)


class Names(unittest.TestCase):
    """What a request names has to be in its source."""

    def test_what_is_missing_is_said_by_name(self):
        model = "import torch\nclass Model(torch.nn.Module):\n    pass\n"
        one = {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [8]}}]}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for code, want in (
                ({"source_code": "def f(x): return x\n"}, "Class 'Model' not found in source code"),
                ({"source_code": model, "metadata": {"function_name": "f"}}, "Function 'f' not found in source code"),
                ({"source_code": model, "metadata": {"class_name": "C"}}, "Class 'C' not found in source code"),
                ({"source_code": model, "metadata": {"method_name": "m"}}, "Method 'm' not found in class 'Model'"),
                ({"source_code": "def f(x): return x\n", "kernel_type": "multi_kernel", "io": one, "metadata": {"entry_point": "run"}},
                 "Entry point 'run' not found in source. Available: ['f']"),
            ):
                with self.assertRaises(kernels.CompileError) as raised:
                    kernels.make({"kernel_type": "torch", **code}, "custom", "cpu").compile()
                self.assertIn(want, str(raised.exception))
            with self.assertRaises(ModuleNotFoundError):
                kernels.make({"kernel_type": "torch", "source_code": "import nothing_of_this_name\n"}, "custom", "cpu").compile()


INLINE = '''
import numpy
import torch
from torch.utils.cpp_extension import load_inline
source = """
__global__ void twice(float* x) { x[threadIdx.x] *= 2; }
torch::Tensor f(torch::Tensor x) { twice<<<1, 8>>>(x.data_ptr<float>()); return x; }
"""
module = load_inline(name="m", cpp_sources="torch::Tensor f(torch::Tensor x);", cuda_sources=source, functions=["f"])
class ModelNew(torch.nn.Module):
    def forward(self, x): return module.f(x)
'''


class TorchCuda(unittest.TestCase):
    """The evaluation server's manual names five ways in which a torch_cuda source can be wrong."""

    def refused(self, source, **metadata):
        with self.assertRaises(kernels.CompileError) as raised:
            kernels.make({"kernel_type": "torch_cuda", "source_code": source, "metadata": metadata}, "custom", "cpu")
        return str(raised.exception)

    def taken(self, source, **metadata):
        self.assertEqual(self.refused(source, **metadata), "A torch_cuda kernel needs a GPU; this device is the CPU", source)

    def test_each_wrong_source_is_told_in_the_manuals_words(self):
        call = 'module = load_inline(name="m", cpp_sources="torch::Tensor f(torch::Tensor x);", cuda_sources=source, functions=["f"])'
        model = "class Model(torch.nn.Module): pass\n"
        for words, source in (
            ("No load_inline call found", INLINE.replace(call, "# load_inline(cuda_sources=source), load(x)\nmodule = print")),
            ("No load_inline call found", model),
            ("No cuda_sources found", INLINE.replace("cuda_sources=source", "cuda_source=source")),
            ("No cuda_sources found", INLINE.replace("cuda_sources=source", "cuda_sources=[]")),
            ("Failed to extract CUDA source from variable 'sourse'", INLINE.replace("cuda_sources=source", "cuda_sources=[sourse]")),
            ("No ModelNew torch module found", INLINE.replace("ModelNew", "Model")),
            ("No __global__ functions found: no text of the source declares a CUDA kernel. If it only calls a library", INLINE.replace("__global__ ", "")),
        ):
            self.assertNotEqual(source, INLINE)
            self.assertTrue(self.refused(source).startswith(words), (words, self.refused(source)))

    def test_a_model_beside_it_is_not_taken_for_the_kernel(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            kernel = kernels.TorchCudaKernel({"source_code": "import torch\nclass Model(torch.nn.Module): pass\n"}, "custom", "cpu")
            with self.assertRaisesRegex(kernels.CompileError, "No ModelNew torch module found"):
                kernel.compile()

    def test_every_way_to_call_load_inline_is_taken(self):
        computed = INLINE.replace("__global__ ", "").replace('source = """', 'source = read("""').replace('}\n"""\n', '}\n""")\n')
        for source in (
            INLINE, computed,
            INLINE.replace("import load_inline", "import load_inline as build").replace("= load_inline(", "= build("),
            INLINE.replace("from torch.utils.cpp_extension import load_inline", "import torch.utils.cpp_extension").replace("= load_inline(", "= torch.utils.cpp_extension.load_inline("),
            INLINE.replace("cuda_sources=source", "**{'cuda_sources': source}"),
            INLINE.replace("cuda_sources=source", "cuda_sources=[source]"),
            INLINE.replace('name="m", cpp_sources="torch::Tensor f(torch::Tensor x);", cuda_sources=source', '"m", "", source'),
            INLINE.replace("__global__ ", "").replace('source = """', 'source = "#define KERNEL __global__"\nsource += """'),
            "this is no Python(",
        ):
            self.taken(source)
        self.taken(INLINE.replace("ModelNew", "Mine"), class_name="Mine")
        self.taken(INLINE.replace("ModelNew", "Mine"), function_name="f")

    def test_an_extension_that_takes_a_pointer_gets_a_remark(self):
        error = "TypeError: twice(): incompatible function arguments. The following argument types are supported:\n    1. (arg0: torch.Tensor, arg1: float)"
        self.assertIn("converts no tensor to a pointer", inline.remark(error))
        self.assertIsNone(inline.remark("TypeError: forward() takes 2 positional arguments but 3 were given"))


class Compare(unittest.TestCase):
    def close(self, want, got, atol=0.01, rtol=0.01, matched=1.0):
        return compare.differences([torch.tensor(want)], [torch.tensor(got)], compare.Tolerance(atol, rtol, matched))

    def test_the_first_wrong_element_is_named(self):
        close, largest, _, first = self.close([1.0, 2.0, 3.0], [1.0, 2.5, 9.0])
        self.assertFalse(close)
        self.assertEqual((largest, first), (6.0, {"output": 0, "element": 1, "expected": 2.0, "actual": 2.5}))

    def test_infinities_agree_only_with_themselves(self):
        inf = float("inf")
        self.assertTrue(self.close([inf, -inf], [inf, -inf])[0])
        for want, got in (([1.0], [inf]), ([inf], [-inf]), ([inf], [1.0])):
            self.assertFalse(self.close(want, got)[0], (want, got))

    def test_nan_is_never_right(self):
        for want, got in (([float("nan")], [1.0]), ([1.0], [float("nan")]), ([float("nan")], [float("nan")])):
            with self.assertRaises(compare.Mismatch):
                self.close(want, got)

    def test_complex_numbers_are_near_by_their_distance(self):
        self.assertTrue(self.close([3 + 4j, 1j], [3 + 4.04j, 1j])[0])  # 0.04 is within 0.01 + 0.01 * 5.03
        close, largest, _, first = self.close([1j, 3 + 4j], [1j, 3 + 4.5j])
        self.assertFalse(close)
        self.assertAlmostEqual(largest, 0.5)
        self.assertEqual(first, {"output": 0, "element": 1, "expected": "(3+4j)", "actual": "(3+4.5j)"})
        with self.assertRaises(compare.Mismatch):
            self.close([1j], [complex(0, float("nan"))])

    def test_an_empty_tensor_beside_others_is_right(self):
        self.assertTrue(self.close([], [])[0])

    def test_integers_and_booleans_are_exact_below_a_tolerance_of_one(self):
        for want, got in (([1000], [1001]), ([2**53], [2**53 + 1]), ([True, False], [True, True])):
            for atol in (0.01, 0.99):
                close, _, _, first = self.close(want, got, atol=atol)
                self.assertEqual((close, first["actual"]), (False, got[first["element"]]))
        self.assertTrue(self.close([1000, -5], [1001, -6], atol=1)[0])

    def test_as_many_elements_may_be_wrong_as_the_ratio_leaves(self):
        for wrong, close in ((10, True), (11, False)):
            self.assertEqual(self.close([0.0] * 100, [1.0] * wrong + [0.0] * (100 - wrong), matched=0.9)[0], close)
        with self.assertRaises(compare.Mismatch):
            self.close([0.0] * 100, [math.nan] + [0.0] * 99, matched=0.9)


class Tolerances(unittest.TestCase):
    def test_types_of_few_bits_have_one_step_unless_a_tolerance_is_given(self):
        names = {"float8_e4m3fn": (0.01, 0.125), "torch.float8_e5m2": (0.01, 0.25), "float8_e8m0fnu": (0.0, 1.0), "torch.bfloat16": (0.01, 0.01), "float32": (0.01, 0.01)}
        for words, fits in (({"fitting": True, "atol": 0.01, "rtol": 0.01}, True), ({}, True), ({"rtol": 0.01}, False), ({"atol": 0.01, "rtol": 0.01}, False)):
            bound = compare.Tolerance.of(words).bind([""] * 5, names)
            self.assertEqual([(one.atol, one.rtol) for one in bound.places], list(names.values()) if fits else [(0.01, 0.01)] * 5, words)

    def test_no_constant_is_within_a_large_share_of_all_numbers(self):
        powers = [2.0**exponent for exponent in range(-127, 128)]  # those of float8_e8m0fnu
        one_up, one_down = [*powers[1:], powers[-1]], [powers[0], *powers[:-1]]
        for got, good in ((powers, True), (one_up, True), (one_down, True), (powers[2:] + powers[:2], False), (powers[:1] * 255, False), (powers[-1:] * 255, False)):
            want, got = torch.tensor(powers, dtype=torch.float64), torch.tensor(got, dtype=torch.float64)
            self.assertEqual(compare.differences([want], [got], compare.Tolerance(0.0, 1.0))[0], good)
            for pair in ((want, got), (want.numpy(), got.numpy())):
                self.assertEqual(warpboard_compare.difference(*pair, {"atol": 0.0, "rtol": 1.0}) == "", good)

    def test_an_output_has_the_words_of_the_default_that_it_leaves_out(self):
        bound = compare.Tolerance.of({"rtol": 0.1, "matched": 0.9, "tolerances": {"b": {"atol": 1}, "2": {"max_error": 3}}}).bind(["a", "b", "c"], [torch.float32] * 3)
        self.assertEqual([one[:4] for one in bound.places], [(0.01, 0.1, 0.9, None), (1, 0.1, 0.9, None), (0.01, 0.1, 0.9, 3)])


class Outputs(unittest.TestCase):
    def forms(self, *returned):
        for value in returned:
            text, tensors = outputs.take_apart(value)
            yield outputs.Form.read(text, len(tensors))

    def pair(self, ref, custom):
        return outputs.pair(*self.forms(ref, custom)).order

    def test_outputs_are_paired_by_name_where_both_have_some(self):
        x = torch.ones(3)
        for ref, custom, order in (
            ({"a": x, "b": x}, {"b": x, "a": x}, [1, 0]), ({"a": x, "b": x}, [x, x], [0, 1]), ([x, {"k": 3}], (x, {"k": 4}), [0, 1]), (x, [x], [0]),
            ({"a": x, "b": x}, outputs.Written([x, x], ["b", "a"]), [1, 0]), ({"a": x, "b": x}, outputs.Written([x, x], ["p", "q"]), [0, 1]),
            ((x, None), outputs.Written([x], ["y"]), [0]), ({"a": [x, x], "b": (x,)}, {"b": x, "a": (x, x)}, [1, 2, 0]), ([x, x], [x], [0]),
        ):
            self.assertEqual(self.pair(ref, custom), order, (ref, custom))

    def test_what_one_of_them_lacks_is_named(self):
        x = torch.ones(3)
        for ref, custom, said in (
            ({"a": x, "b": x}, {"a": x, "c": x}, "Output names differ: ref=[a, b], custom=[a, c]"),
            ((x, None), (x, x), "Output 1: the reference returned None, the custom kernel a tensor"),
            ((x, "sum"), (x, "mean"), "Output 1: the reference returned 'sum', the custom kernel 'mean'"),
            ({"a": 3}, {"a": x}, "Output a: the reference returned a number, the custom kernel a tensor"),
            ((x, 3), x, "Output count differs: ref=[a tensor, a number], custom=[a tensor]"),
            ((x, 2**80), (x, 2**81), f"Output 1: the reference returned {2**80}, the custom kernel {2**81}"),
        ):
            with self.assertRaises(compare.Mismatch) as raised:
                self.pair(ref, custom)
            self.assertEqual(str(raised.exception), said)

    def test_a_form_that_cannot_be_is_refused(self):
        text, tensors = outputs.take_apart({"a": torch.ones(3)})
        for broken, count in ((text, 2), ("[]", 0), ("[1, [[[[]], 2]]]", 1), ("[1, [[0, 1, 2, 3, 4]]]", 0), ("[" * 9000, 0), ("3", 0)):
            with self.assertRaises(Refused):
                outputs.Form.read(broken, count)


class Packing(unittest.TestCase):
    def pack(self, value):
        """A value that has come to the judge, through JSON but for its tensors and arrays."""
        return packing.unpack(packing.pack(value, "get_inputs()"), "cpu")

    def test_strides_and_kinds_come_back(self):
        wide = torch.randn(2, 3, 4, 5)
        values = [wide.t() if wide.dim() == 2 else wide.transpose(1, 3), torch.randn(4, 1).expand(4, 6), wide.to(memory_format=torch.channels_last), wide[:, :, ::3],
                  torch.empty(0, 3), torch.randn(3, dtype=torch.complex64).conj(), torch.rand(5) > 0.5, torch.randn(7).bfloat16(), torch.tensor(3), wide[1, 2]]
        for one, other in zip(values, self.pack(values)):
            self.assertTrue(torch.equal(one, other) and one.stride() == other.stride() and one.dtype == other.dtype, one.stride())
        value = {"a": (1, None, [True, "x"]), "dtype": torch.float16, 3: numpy.arange(3)}
        other = self.pack(value)
        self.assertEqual((str(other), other["dtype"]), (str(value), torch.float16))

    def test_memory_is_shared_as_before(self):
        x = torch.zeros(100)
        values = [x, x, x[50:], [x[10:60].view(5, 10)], x.view(torch.int32), torch.zeros(100)]
        for given in (self.pack(values), packing.join(packing.share(self.pack(values)))):
            given[0][55] = 1
            self.assertEqual([float(given[1][55]), float(given[2][5]), float(given[3][0][4, 5]), int(given[4][55]), float(given[5][55])], [1, 1, 1, 1065353216, 0])
        self.assertIs(*self.pack(values)[:2])
        self.assertIsNone(packing.share([x, [torch.zeros(3)], 4]))
        self.assertIsNone(packing.share([x, x]))

    def test_what_cannot_be_handed_over_is_named(self):
        for value, said in ((torch.nn.ReLU(), "get_inputs\\(\\) returned a ReLU, which cannot be handed to a kernel"), (torch.eye(3).to_sparse(), "a Tensor of layout torch.sparse_coo")):
            with self.assertRaisesRegex(contract.ContractError, said):
                packing.pack([value], "get_inputs()")

    def test_descriptions_that_cannot_be_are_refused(self):
        tensor = ["tensor", 0, 0, "float32", [3], [1]]
        for broken in (3, [[], tensor], [[torch.zeros(8, dtype=torch.uint8)], tensor], [[torch.zeros(12, dtype=torch.uint8)], [*tensor[:3], "nn", [3], [1]]],
                       [[], ["code", "x"]], [[], ["dtype", "out of memory"]], [[], ["list", 3]], [[torch.zeros(99, dtype=torch.uint8)], ["tensor", 0, 0, "float32", [3], [-1]]]):
            with self.assertRaises(Refused):
                packing.unpack(broken, "cpu")


    def test_lengths_reveal_nothing_of_an_input_and_all_else_that_differs_does(self):
        x, y = torch.zeros(3, 4), torch.zeros(7, 4)
        for one, other, reveals in (([x], [y], False), ([x, 5], [y, 5], False), ([x, 5], [y, 6], True), ([x], [y.int()], True),
                                    ([{"a": x}], [{"b": y}], True), ([x, numpy.ones(2)], [y, numpy.ones(2)], True)):
            inputs = sides.Inputs({"ref": {"io": None}, "inputs": "ref"}, "cpu", unittest.mock.Mock(), ("ref",))
            seen = []
            for trial, values in enumerate((one, one, other, one)):
                inputs._generated = lambda secret, values=values: values
                inputs.draw(trial, None)
                seen.append(inputs.partly_known)
            self.assertEqual((seen[1], seen[2:]), (len(one) > 1 and isinstance(one[1], numpy.ndarray), [reveals] * 2), one)


class Trivial(unittest.TestCase):
    def reasons(self, reference, atol=0.01, draw=lambda: [torch.rand(1000)]):
        found = trivial.Trivial(compare.Tolerance(atol, 0.01))
        for _ in range(2):
            values = draw()
            found.see(reference(*values), values)
        return found.reasons(lambda place: f"output {place}: ")

    def test_answers_that_compute_nothing_are_named(self):
        for reference, said in (
            (lambda x: [x * 1e-4], "Output 0: zeros"), (lambda x: [x * 1e-4 + 3], "Output 0: the answer to other inputs"), (lambda x: [x + 1e-4], "Output 0: a copy of input 0"),
            (lambda x: [torch.full((10,), float(x[0]))], "Output 0: the mean of all elements"), (lambda x: [x * 0, x.relu()], "Output 0: zeros would pass as well. Output 1: a copy"),
            (lambda x: [x.mean().expand(1)], None), (lambda x: [x * 2], None), (lambda x: [(x > 20)], "Output 0: zeros"), (lambda x: [x[:0], x * 2], None),
        ):
            why, single = self.reasons(reference, draw=lambda: [torch.rand(1000) * (1 + torch.rand(1) * 9)])
            self.assertEqual((why or "")[: len(said or "")], said or "", why)
            self.assertEqual((why is None, single), (said is None, []), said)

    def test_the_largest_number_of_a_type_is_one_of_them(self):
        found, x = trivial.Trivial(compare.Tolerance(0.0, 100.0)), torch.tensor([1000.0, -1000.0])
        found.see([x.half()], [x])
        self.assertIn("output 0: the largest number of the type would pass", found.reasons(lambda place: f"and output {place}: ")[0])
        self.assertEqual([full.tolist() for full in contract.largest(x.half())], [[65504.0] * 2, [-65504.0] * 2])

    def test_one_of_several_outputs_is_a_remark(self):
        self.assertEqual(self.reasons(lambda x: [x * 2, x * 0]), (None, ["Output 1: zeros would pass as well."]))

    def test_few_elements_that_differ_are_found_and_equal_inputs_say_nothing(self):
        def sparse(x):
            y = torch.zeros(1_000_000)
            y[int(x[0] * 1e6)] = 5
            return [y]

        self.assertIsNone(self.reasons(sparse)[0])
        self.assertIsNone(self.reasons(lambda x: [x * x + 3], draw=lambda: [torch.arange(100) / 9])[0])


class Small(unittest.TestCase):
    def test_pairs_of_four_bits_come_back(self):
        values = torch.tensor([[*contract.PAIRED], [-value for value in contract.PAIRED]])
        pairs = contract.paired(values, torch.uint8)
        self.assertEqual((pairs.shape, pairs[0].tolist()), ((2, 4), [0x10, 0x32, 0x54, 0x76]))
        self.assertTrue(torch.equal(contract.unpaired(pairs), values))
        self.assertEqual(contract.unpaired(contract.paired(torch.tensor([0.2, 0.3, -9.0, 5.1]), torch.uint8)).tolist(), [0.0, 0.5, -6.0, 6.0])


class Timing(unittest.TestCase):
    def test_statistics_and_speedup(self):
        stats = timing.stats([1.0, 2.0, 3.0, 4.0])
        self.assertEqual((stats["mean"], stats["min"], stats["max"], stats["median"]), (2.5, 1, 4, 2.5))
        self.assertAlmostEqual(stats["std"], math.sqrt(1.25))
        speedup, (low, high) = timing.speedup([4.0] * 9 + [5.0], [2.0] * 10)
        self.assertEqual(speedup, 2)
        self.assertTrue(low <= 2 <= high)
        self.assertEqual(timing.speedup([1.0, 3.0], [1.0, 1.0])[0], 2)
        self.assertEqual(timing.speedup([1.0], [0.0]), (None, None))

    def test_medians_of_resamples_are_those_of_their_elements(self):
        rng = random.Random(7)
        for size in (1, 2, 7, 100, 101, timing._PART // 500, timing._PART + 1):
            sample = torch.tensor([round(rng.random(), 2) for _ in range(size)], dtype=torch.float64)
            picks = torch.randint(0, size, (200 if size < timing._PART else 3, size))
            plain = sum(sample[picks].kthvalue(middle).values for middle in ((size + 1) // 2, size // 2 + 1)) / 2
            self.assertTrue(torch.equal(timing.medians(sample, picks), plain), size)

    def test_the_speedups_interval_is_that_of_the_seed(self):
        rng = random.Random(8)
        ref, custom = ([round(rng.lognormvariate(0, 0.1), 3) for _ in range(100)] for _ in range(2))
        for paired in (True, False):
            generator = torch.Generator().manual_seed(0)
            picks = torch.randint(0, 100, (timing.RESAMPLES, 100), generator=generator)
            others = picks if paired else torch.randint(0, 100, (timing.RESAMPLES, 100), generator=generator)
            ratios = [statistics.median(ref[i] for i in mine) / statistics.median(custom[i] for i in theirs)
                      for mine, theirs in zip(picks.tolist(), others.tolist())]
            want = [float(torch.quantile(torch.tensor(ratios, dtype=torch.float64), q)) for q in ((1 - 0.95) / 2, (1 + 0.95) / 2)]
            speedup, interval = timing.speedup(ref, custom, paired=paired)
            self.assertEqual(speedup, statistics.median(ref) / statistics.median(custom))
            for got, end in zip(interval, want):
                self.assertAlmostEqual(got, end, places=12)

    def test_a_speedup_begins_no_threads(self):
        program = ("import os, torch, timing; timing.speedup([1.0 + i % 7 for i in range(100)], [2.0 + i % 5 for i in range(100)]); "
                   "print(len(os.listdir('/proc/self/task')))")
        ended = subprocess.run([sys.executable, "-c", program], env={**os.environ, "OMP_NUM_THREADS": "4"}, capture_output=True, text=True)
        self.assertEqual(ended.stdout, "1\n", ended.stderr)

    def test_an_interval_has_room_for_what_a_clock_may_err_by(self):
        for of_ref, of_custom, least, most in (
            ((1.0, 2.0), (0.5, 0.75), 3 / 2.75, 6 / 1.5),
            ((0.0, 0.0), (0.0, 18.0), 4 / 20, 2),  # a time that may hide another of ten times its length
            ((9.0, 0.0), (9.0, 0.0), 0, 4 / 0.2),
        ):
            speedup, (low, high) = timing.speedup([4.0] * 10, [2.0] * 10, of_ref, of_custom)
            self.assertEqual(speedup, 2)
            self.assertAlmostEqual(low, least)
            self.assertAlmostEqual(high, most)

    def test_an_interval_has_room_for_what_processes_of_one_kernel_differ_by(self):
        for ms, share in ((0.355, 0.0034), (0.008, 0.021)):
            _, (low, high) = timing.speedup([ms] * 10, [ms] * 10, apart=timing.apart(ms, ms))
            self.assertAlmostEqual(low, 1 - share, delta=share / 20)
            self.assertAlmostEqual(high, 1 + share, delta=share / 20)

    def test_a_reference_that_was_slower_in_turns_may_be_too_long(self):
        alone = [Call(None, None, 185e3, 0, 0, 0, False, 0, 0, (4,), 1, 0)] * 10
        self.assertEqual(self.clocks([(190, 190, 190)] * 20, reference=True).errors(alone), (5_000, 0))
        self.assertEqual(self.clocks([(180, 180, 180)] * 20, reference=True).errors(alone), (0, 0))
        self.assertEqual(self.clocks([(190, 190, 190)] * 20).errors(alone), (0, 0))

    def test_high_confidence_is_wider_than_all_resamples(self):
        rng = random.Random(3)
        ref, custom = ([rng.lognormvariate(0, 0.1) for _ in range(100)] for _ in range(2))
        width = lambda level: (lambda _, interval: interval[1] - interval[0])(*timing.speedup(ref, custom, level=level))  # noqa: E731
        self.assertLess(width(0.95), width(0.999))
        self.assertLess(1.1 * width(0.999), width(0.99999))

    def test_inputs_that_are_described_early_have_their_own_constants(self):
        def constants(told):
            calls = [Call(None, None, 5e3, 1_005e3, 1_005e3, 1_205e3, False, 0, 0, (4,), 1, 0, described=told)] * 20
            return Constants.of("cuda", calls)

        self.assertEqual((constants(990e3).handover, constants(990e3).snapshot), (1_000e3, 1_200e3))
        self.assertEqual((constants(0.0).handover, constants(900e3).handover), (30e3, 930e3))  # from the release it is bounded

    def test_what_the_time_before_a_release_varies_by_is_not_subtracted(self):
        rng = random.Random(5)
        late = [10e3 * (number % 2) for number in range(40)]  # of every other call
        calls = [Call(None, None, 5e3, told + 20e3 + ns, told + 20e3 + ns, told + 170e3 + ns, False, 0, 0, (4,), 1, 0, described=told)
                 for ns, told in zip(late, (rng.uniform(1_300e3, 1_500e3) for _ in late))]
        constants = Constants.of("cuda", calls)
        self.assertAlmostEqual(constants.handover - constants.described, 15e3)
        self.assertAlmostEqual(constants.snapshot - constants.described, 165e3)
        calls[-1].keeps_host = False  # all time counts
        self.assertAlmostEqual(Constants.of("cuda", calls).handover, 15e3)
        self.assertLessEqual(constants.spread, 10e3)

    def told(self, *inputs, on_device=False):
        """A runner that was asked for calls on these inputs. Its tensors are on the host, or are taken for those of a device."""
        runner = Runner(*(unittest.mock.MagicMock() for _ in range(3)), None, unittest.mock.MagicMock())
        runner._share = runner._wanted = runner.write_host = lambda *_: None
        with unittest.mock.patch.object(warpboard_layout, "HOST", warpboard_layout.CUDA if on_device else HOST):
            for data in inputs:
                runner.ask(data, 0)
        return runner

    def test_a_few_bytes_on_the_host_tell_no_more_than_numbers(self):
        for bytes_, early, much in ((0, False, False), (4, True, False), (64, True, False), (256, True, True)):
            runner = self.told([torch.zeros(bytes_ // 4)])
            self.assertEqual((runner.early, runner.much_described), (early, much), bytes_)

    def test_large_arrays_on_the_host_stay_until_the_kernel_needs_new_ones(self):
        large, written = [torch.zeros(1 << 15)], []
        runner = self.told([torch.zeros(4)])
        runner.keep_host()
        self.assertEqual((runner.keeps_host, runner.early), (None, True))  # there are few

        def asked():
            written.clear()
            runner.ask(large, 0)
            return bool(written), runner.early

        runner = self.told(large)
        runner.write_host = lambda *_: written.append(True)
        runner.keep_host()
        self.assertEqual(asked(), (False, False))
        self.assertEqual((runner.needs_host(), asked()), (True, (True, True)))
        runner.keep_host()  # not again in this case
        self.assertEqual((runner.needs_host(), asked()), (False, (True, True)))

    def test_a_case_begins_again_when_its_kernel_needs_arrays_on_the_host(self):
        stages = unittest.mock.Mock(**{"runner.needs_host.side_effect": [True, False]})
        good = iter([True] * 9 + [False] + [True] * 20 + [False])
        stages.call = lambda *_, **__: (next(good), "wrong", unittest.mock.Mock(wall=1e3))
        with unittest.mock.patch("warpboard_judge.secrets.randbelow", lambda _: 0):
            right, message, calls = Judge.measure(stages, unittest.mock.Mock(), unittest.mock.Mock(done=lambda *_: False))
        self.assertEqual((right, message, len(calls)), (False, "wrong", 20))
        self.assertEqual(stages.runner.keep_host.call_count, 2)

    def test_a_checker_may_raise_for_an_answer_from_kept_arrays(self):
        for keeps, ranked, raises in ((False, False, True), (True, False, False), (False, True, False)):
            stages = unittest.mock.Mock(ranked=ranked, **{"task.check.side_effect": TaskFailed("other shapes"), "runner.keeps_host.return_value": keeps})
            with self.assertRaises(TaskFailed) if raises else contextlib.nullcontext():
                self.assertEqual(Judge.call(stages, unittest.mock.Mock(), True), (False, "other shapes", None))

    def test_a_write_to_one_input_leaves_what_autograd_has_kept_of_another(self):
        region = warpboard_cuda._Region.__new__(warpboard_cuda._Region)
        region._views, region.bytes = {}, torch.zeros(4096, dtype=torch.uint8)
        key = lambda grad: ("tensor", "float32", (4,), (1,), False, grad)  # noqa: E731
        x, out = (warpboard_layout.as_parameter(region.view(at, 16, key(grad)), key(grad)) for at, grad in ((0, True), (512, False)))
        y = (x * x).sum()
        out.fill_(1)
        y.backward()
        self.assertEqual((x.grad.tolist(), region.bytes.view(torch.float32)[128:132].tolist()), ([0] * 4, [1] * 4))

    def test_numbers_of_any_form_count_as_what_is_told_before_the_release(self):
        for more in (0, 1):
            for beside, most in (([], 128), ([torch.zeros(64)], 208)):
                text = "x" * (most + more - len(warpboard_layout.describe((beside, "x" * 100))[0]) + 100)
                self.assertEqual(self.told((beside, text), on_device=True).much_described, more == 1, most)
        for data in (list(range(10_000)), tuple(map(str, range(100))), b"x" * 1000, {i: i for i in range(100)}):
            self.assertTrue(self.told((torch.zeros(64), data), on_device=True).much_described, len(data))
        self.assertTrue(self.told(list(range(10_000)), [1]).much_described)  # of any call

    def test_a_few_numbers_and_names_beside_tensors_are_few(self):
        x, half = torch.zeros(64, 128, 8, 16), torch.zeros(64, 128, 8, 16, dtype=torch.bfloat16)
        for data in (
            (x, 1 << 40, 0.5, 17, "gelu"), (x, half, x.int(), x.byte(), x.long(), half + 1, 3, 1e-5), ((x, half), (x + 1, (x + 2, 1.5, 2))),
            {"query_states": x, "key_states": x + 1, "value_states": x + 2, "attention_mask": half, "softmax_scale": 0.125, "is_causal": True, "num_heads": 32},
            [x, *(torch.nn.Parameter(x + i) for i in range(5)), 1e-5, 12345], ({f"layers.{i}.weight": x + i for i in range(20)}, 1e-5),
        ):
            self.assertFalse(self.told(data, on_device=True).much_described, len(warpboard_layout.describe(data)[0]))

    def test_gates_that_come_late_in_the_middle_call_are_charged(self):
        def shown(late):
            made = [Call(None, None, 1e3, 340e3, 340e3, 350e3, False, 40e3, 145e3 + late, (4,), 1, 0, True)] * 20
            return statistics.median(Clocks(made, Constants("cuda", 150e3, 160e3, 0.3e3, 0.3e3, 40e3, 145e3, 12e3)).stats.times)
        self.assertEqual([shown(late) - shown(0) for late in (3e3, 9e3, 30e3)], [0, 6e3, 27e3])

    def clocks(self, calls, late=False, kind="cuda", reference=False, prepared=40, beside=None, sample=0):
        """Clocks of calls in µs, where handing over takes 150 of them. The sample is taken so long after "done"; 0: there is none."""
        constants = Constants(kind, 150_000.0, 160_000.0, 3_000.0, 3_000.0, 40_000.0, 145_000.0, 12_000.0)
        made = [Call(None, None, event * 1e3, (150 + wall) * 1e3, (150 + wall + sample) * 1e3, (160 + snapshot) * 1e3, late, prepared * 1e3, 145_000.0, (4,), 1, 0, True)
                for event, wall, snapshot in calls]
        return timing.EvaluationClocks(made, constants, reference, beside)

    def clock(self, calls, **more):
        """Which clock counts, what by it the median is, and the share of disturbed calls."""
        clocks = self.clocks(calls, **more)
        return clocks.clock, statistics.median(clocks.stats.times) / 1e3, clocks.disturbed

    def test_delays_of_the_hand_over_do_not_count_and_what_every_call_takes_does(self):
        delayed = [(190, 190 + late, 190 + late) for late in (0, 3, 14, 18, 25)]
        for reference in (False, True):
            self.assertEqual(self.clock(delayed, reference=reference)[:2], ("event", 190))
        self.assertEqual(self.clock(delayed, late=True)[0], "event")
        self.assertEqual(self.clock(delayed, kind="host")[0], "wall")
        forged = [(1, wall, snapshot) for _, wall, snapshot in delayed]
        self.assertEqual(self.clock(forged)[0], "wall")
        self.assertGreater(self.clock(forged)[1], 190)
        unjoined = [(1, 1 + late, 190 + late) for late in (0, 3, 14, 18, 25)]
        self.assertEqual(self.clock(unjoined)[0], "snapshot")
        self.assertGreater(self.clock(unjoined)[1], 190)

    def test_delays_that_the_reference_shows_do_not_count_up_to_a_limit(self):
        for delay, alone, beside in ((3, "event", "event"), (6, "wall", "event"), (9, "wall", "event"), (12, "wall", "wall")):
            calls = [(190, 190 + delay, 190 + delay)] * 20
            reference = self.clocks([(300, 300 + delay, 300 + delay)] * 20, reference=True)
            self.assertEqual((self.clock(calls)[0], self.clock(calls, beside=reference)[0]), (alone, beside), delay)
        slow = self.clocks([(300, 500, 500)] * 20, reference=True)
        self.assertGreater(self.clock([(1, 190, 190)] * 20, beside=slow)[1], 160)

    def test_constants_that_are_too_large_by_what_the_reference_shows_allow_less(self):
        quick = self.clocks([(300, 293, 290)] * 20, reference=True)
        self.assertEqual(self.clock([(190, 183, 180)] * 20, beside=quick)[0], "event")
        self.assertEqual(self.clock([(176, 184, 180)] * 20, beside=quick)[0], "wall")

    def test_work_after_done_is_not_allowed_by_what_the_reference_shows(self):
        reference = self.clocks([(300, 310, 314)] * 20, reference=True)
        self.assertEqual(self.clock([(182, 180, 191)] * 20, beside=reference)[0], "event")
        self.assertEqual(self.clock([(182, 180, 194)] * 20, beside=reference)[0], "snapshot")

    def test_answers_that_come_late_cost_nothing_if_samples_of_them_came_in_time(self):
        for sample, late, clock in ((12, 11, "event"), (12, 14, "event"), (12, 20, "snapshot"), (0, 30, "snapshot")):
            made = self.clocks([(190, 190, 190 + late)] * 20, sample=sample)
            self.assertEqual(made.clock, clock, (sample, late))

    def test_samples_that_come_late_are_charged(self):
        def shown(sample):
            return statistics.median(self.clocks([(1, 190, 190)] * 20, sample=sample).stats.times)
        self.assertEqual([round(shown(sample) - shown(12)) for sample in (10, 17, 25, 28)], [0, 0, 8_000, 11_000])

    def test_a_reference_counts_by_its_own_clock_and_says_when_it_was_hindered(self):
        for took, more, hindered in ((190, 0, False), (190, 25, False), (190, 35, True), (8000, 51, False), (8000, 85, True)):
            reference = self.clocks([(took, took + more, took + more)] * 20, reference=True)
            self.assertEqual((reference.clock, reference.hindered()), ("event", hindered))
        unjoined = self.clocks([(1, 1, 190)] * 20, reference=True)
        self.assertTrue(unjoined.hindered())
        self.assertFalse(self.clocks([(190, 290, 290)] * 20, reference=True, kind="host").hindered())

    def test_a_reference_that_is_slower_in_turns_than_alone_was_disturbed(self):
        turns = [(190, 190, 190)] * 20
        for kind, alone, slower in (("cuda", 190, False), ("cuda", 182, False), ("cuda", 175, True), ("cuda", 220, False),
                                    ("host", 182, False), ("host", 60, False), ("host", 40, True)):
            calls = [Call(None, None, alone * 1e3, 0, 0, 0, False, 0, 0, (4,), 1, 0)] * 10
            self.assertEqual(self.clocks(turns, reference=True, kind=kind).slower_than(calls), slower, (kind, alone))

    def test_a_reference_is_as_slow_in_turns_as_its_slow_inputs_alone(self):
        turns, later = [(190, 190, 190)] * 11 + [(40, 40, 40)] * 9, [40] * 4 + [190] * 6
        calls = [Call(None, None, alone * 1e3, 0, 0, 0, False, 0, 0, (4,), 1, 0) for alone in later]
        for kind in ("cuda", "host"):
            clocks = self.clocks(turns, reference=True, kind=kind)
            self.assertEqual((clocks.slower_than(calls[:4]), clocks.slower_than(calls)), (True, False))

    def test_calls_alone_have_new_inputs_if_those_of_the_last_turn_were_cheap(self):
        for cheap, seen in ((False, ["last"] * 10), (True, ["last"] * 10 + ["new"] * 10)):
            stages, given = Stages.__new__(Stages), []
            call = lambda data, *_: given.append(data) or Call(None, None, 50e3 if data == "last" else 190e3, 0, 0, 0, False, 0, 0, (4,), 1, 0)  # noqa: B023, E731
            turns = [Call(None, None, 190e3 if cheap else 50e3, 0, 0, 0, False, 0, 0, (4,), 1, 0)] * 20
            stages.kernels = {"custom": unittest.mock.Mock(), "ref": unittest.mock.Mock(call=call)}
            stages.clocks, stages.ends, stages.draw = unittest.mock.Mock(kind="cuda"), math.inf, lambda trial: {"ref": "new"}
            alone = stages.time_alone({"ref": "last"}, turns)
            self.assertEqual((given, len(alone)), (seen, 10))
            stages.kernels["custom"].end.assert_called()

    def test_a_release_that_comes_sooner_than_our_own_saves_nothing(self):
        for told, queueing, least, most in ((1000, 0, 184, 190), (700, 0, 184, 190), (1200, 0, 384, 390), (1200, 250, 184, 190), (1400, 250, 334, 340)):
            constants = Constants("cuda", 1150e3, 1160e3, 3e3, 3e3, 40e3, 145e3, 12e3, 1000e3, queueing * 1e3)
            calls = [Call(None, None, 1, (told + 340) * 1e3, (told + 340) * 1e3, (told + 350) * 1e3, False, 40e3, 145e3, (4,), 1, 0, True, told * 1e3)] * 20
            shown = statistics.median(timing.EvaluationClocks(calls, constants).stats.times) / 1e3
            self.assertTrue(least <= shown <= most, (told, shown))

    def read_of_lengths(self, partly_known, reference, described=970.0):
        """Reads the clocks of 40 calls of two lengths, as on an H200: the judge's own runner is released 500 µs sooner
        after its description, and its answer is the smallest."""
        sizes = [(1 << 24, 19), (1 << 28, 215)]
        calls = []
        for number in range(40):
            size, event = sizes[number % 5 < 3]
            copy = 170 + (size - (1 << 24)) * 0.47e-6
            wall = described + event + 7
            calls.append(Call(None, None, event * 1e3, wall * 1e3, (wall + 12) * 1e3, (wall + copy) * 1e3, True, 75e3, 152e3, (size,), 1, 0, True,
                              described * 1e3, True))
        clocks = Timekeeper.__new__(Timekeeper)
        measured = lambda _, some, __: Constants("cuda", 472e3, 642e3 + 0.47 * (min(call.size for call in some) - (1 << 24)) / 1e3, 500, 700,  # noqa: E731
                                                 75e3, 152e3, 12e3, 465e3, 250e3)
        clocks.kind, clocks._cold, clocks._constants, clocks._kept = "cuda", False, {}, timekeeper._Kept()
        clocks._ours = unittest.mock.Mock(constants=measured, early=lambda: True)
        return clocks.read(calls, [torch.zeros(4)], None, partly_known, reference, None)

    def test_inputs_of_several_lengths_are_timed_from_the_release(self):
        for reference in (False, True):
            clocks = self.read_of_lengths(False, reference)
            self.assertEqual((clocks.clock, statistics.median(clocks.stats.times) / 1e3, clocks.hindered()), ("event", 215, False))
            self.assertLess(abs(statistics.median(clocks.snapshots) - statistics.median(clocks.walls)), 1_000)

    def of_lengths(self, calls, reference=False, prepared=(75, 75)):
        """Clocks of calls (event, wall, bytes of the input) in µs. The judge's own runner had an input of 16 MB."""
        made = [Call(None, None, event * 1e3, (150 + wall) * 1e3, (162 + wall) * 1e3, (160 + wall) * 1e3, False, prepared[size > 1 << 24] * 1e3, 145e3, (4,), 1, 0,
                     True, 0.0, True, None, size) for event, wall, size in calls]
        return timing.EvaluationClocks(made, Constants("cuda", 150e3, 160e3, 500, 700, 75e3, 145e3, 12e3, 0.0, 0.0, 1 << 24), reference)

    def test_a_kernel_that_lies_about_long_inputs_gains_no_more_than_with_one_length(self):
        short, long = (20, 20, 1 << 24), (60, 60, 1 << 26)
        for calls in (6 * [short] + 14 * [long], 14 * [short] + 26 * [long], [(20 + 4 * i, 20 + 4 * i, (20 + 4 * i) << 20) for i in range(20)]):
            honest = self.of_lengths(calls)
            self.assertEqual((honest.clock, round(statistics.median(honest.stats.times))), ("event", statistics.median(event * 1000 for event, *_ in calls)))
            lied = self.of_lengths([(event - 16 if event > 40 else event, wall, size) for event, wall, size in calls])
            self.assertGreater(statistics.median(lied.stats.times), statistics.median(event * 1000 for event, *_ in calls) - 4_100)

    def test_a_reference_of_several_lengths_says_when_it_was_hindered(self):
        for more, hindered in ((0, False), (25, False), (40, True)):
            calls = 6 * [(20, 20 + more, 1 << 24)] + 14 * [(400, 400 + more, 1 << 26)]
            self.assertEqual(self.of_lengths(calls, reference=True).hindered(), hindered)

    def test_short_inputs_that_take_long_to_write_count(self):
        calls = 14 * [(60, 60, 1 << 24)] + 6 * [(90, 90, 1 << 28)]
        for took, shown in ((75, 60), (200, 173)):
            clocks = self.of_lengths(calls, prepared=(took, 190))
            self.assertAlmostEqual(statistics.median(clocks.stats.times) / 1e3, shown, delta=12)

    def test_the_clocks_constants_are_measured_with_the_smallest_inputs(self):
        stages, sizes = Stages.__new__(Stages), [3, 5, 2, 7, 2, 9, 4, 4]
        draws, given = [[torch.zeros(size)] for size in sizes], []
        stages.request, stages.ahead, stages.clocks, stages.ends, stages.waking = {"num_trials": 5}, None, unittest.mock.Mock(kind="cuda"), math.inf, 0.0
        stages.kernels = {"custom": types.SimpleNamespace(calls=given)}
        stages.draw_next, stages.untimed, stages.wake, stages.decided = lambda trial: draws[trial - 3], lambda: 2, lambda *_: None, lambda: False
        stages.turn = lambda values, **_: {"custom": types.SimpleNamespace(again=False)}
        stages.differences, stages.most_calls = lambda _: (True, 0.0, 0.0, None), lambda: 5
        self.assertIs(stages.time_all(), draws[4])

    def test_an_interval_on_a_host_includes_the_time_to_map_an_input(self):
        def low(handover):
            constants = Constants("host", handover * 1e3, handover * 1e3 + 1e4, 0.5e3, 0.7e3, 0.0, 0.0, 0.0)
            made = [Call(None, None, 1.0, (handover + 90) * 1e3, (handover + 90) * 1e3, (handover + 100) * 1e3, False, 0.0, 0.0, (4,), 1, 0)] * 20
            return timing.EvaluationClocks(made, constants).errors()[1]
        self.assertLess(low(60), 10e3)
        self.assertAlmostEqual(low(3000), 2.9e6, delta=1e5)

    def test_a_kernel_that_knows_numbers_of_its_input_is_timed_from_the_description(self):
        known = self.read_of_lengths(True, False)
        self.assertEqual(known.clock, "wall")
        self.assertGreater(statistics.median(known.stats.times) / 1e3, 460)
        self.assertFalse(self.read_of_lengths(True, True).hindered())

    def test_a_kernel_that_waits_for_the_device_may_differ_by_what_the_host_takes(self):
        turns = [(190, 190, 190)] * 20
        for alone, slower in ((190, False), (110, False), (95, True)):
            calls = [Call(None, None, alone * 1e3, 0, 0, 0, True, 0, 0, (4,), 1, 0)] * 10
            self.assertEqual(self.clocks(turns, reference=True, late=True).slower_than(calls), slower, alone)
        made_late = [Call(None, None, 140e3, 0, 0, 0, False, 0, 0, (4,), 1, 0)] * 10  # by the other kernel, in turns alone
        self.assertTrue(self.clocks(turns, reference=True, late=True).slower_than(made_late))
        self.assertFalse(self.clocks(turns).waits())
        for ms, share in ((0.1, 0.37), (0.6, 0.175)):
            self.assertAlmostEqual(timing.apart(ms, ms, waits=True), share, delta=0.01)

    def test_a_time_says_by_how_much_it_may_err(self):
        self.assertEqual(self.clocks([(190, 190, 190)] * 20).errors(), (0, 0))
        self.assertEqual(self.clocks([(190, 193, 193)] * 20).errors(), (0, 3_000))  # what it may have hidden
        self.assertEqual(self.clocks([(1, 190, 190)] * 20).errors(), (3_000, 3_000))
        self.assertEqual(self.clocks([(190, 190, 190)] * 20, late=True).errors(), (0, 0))  # a call that waits on the host is as any
        self.assertLess(max(self.clocks([(190, 190, 190)] * 20, kind="host").errors()), 10_000)
        self.assertEqual(self.clock([(0.001, 3, 3)] * 20)[:2], ("event", 1.5))  # no kernel takes less
        # on a host, a call includes what the runner does with the answer, and another kernel may avoid that
        calls = [Call(None, None, 100e3, 0, 0, 0, False, 0, 0, (4,), 1, 0)] * 10
        for reference, alone, long in ((True, (), 95e3), (True, calls, 90e3), (False, (), 5e3)):
            clocks = self.clocks([(100, 195, 195)] * 20, kind="host", reference=reference)
            self.assertAlmostEqual(clocks.errors(alone)[0], long, delta=6e3)

    def test_lying_in_some_calls_or_being_lucky_in_some_gains_nothing(self):
        honest = [(190, 190, 190)]
        self.assertGreater(self.clock(5 * honest + 15 * [(1, 1, 190)])[1], 174)
        self.assertGreater(self.clock(5 * honest + 15 * [(1, 190, 190)])[1], 179)
        self.assertGreater(self.clock(10 * [(1, 190, 190)] + 11 * honest)[1], 179)
        lucky = 7 * [(60, 60, 60)] + 13 * [(60, 250, 250)]
        self.assertGreater(self.clock(lucky)[1], 200)

    def test_a_turn_of_another_context_while_an_input_is_written_counts(self):
        calls = [(190, 190, 190)] * 20
        for prepared, disturbed, want in ((40, 0, 190), (58, 0, 190), (100, 1, 250), (440, 1, 590)):
            _, median, share = self.clock(calls, prepared=prepared)
            self.assertEqual(share, disturbed)
            self.assertTrue(want - 15 <= median <= want, median)
            self.assertEqual(self.clock(calls, prepared=prepared, reference=True), ("event", 190, disturbed))


class Turns(unittest.TestCase):
    def test_a_kernel_that_raises_while_it_is_timed_is_told(self):
        def failing(error):
            def part():
                raise error
            return part

        for error, inputs, told in ((sides.Raised("x", "custom"), "ref", True), (sides.Raised("x", "ref"), "ref", False), (sides.Raised("x", "inputs"), "custom", True),
                                    (sides.Raised("x", "inputs"), "ref", False), (OutOfTime(), "ref", False)):
            made = Stages.__new__(Stages)
            made.pipe, made.report, made.compared, made.request = unittest.mock.Mock(), {}, True, {"inputs": inputs}
            made.timing(failing(error))
            self.assertEqual(unittest.mock.call(raised=True) in made.pipe.tell.mock_calls, told, error)

    def test_after_a_pause_each_kernel_is_woken_with_an_input_that_it_has_seen(self):
        seen = {"ref": [], "custom": []}

        def side(label):
            made = unittest.mock.Mock(calls=[])
            made.call.side_effect = lambda value, *_: seen[label].append(value) or unittest.mock.Mock(input=value, again=False)
            return made

        stages = Stages.__new__(Stages)
        stages.request, stages.decision, stages.ends, stages.waking, stages.ahead, stages.drawing = {"num_trials": 20}, None, math.inf, 0.0, None, math.inf
        stages.clocks = unittest.mock.Mock(kind="cuda")
        stages.kernels = {label: side(label) for label in seen}
        stages.inputs = unittest.mock.Mock()
        stages.inputs.draw.side_effect = lambda number, secret: dict.fromkeys(seen, number)
        stages.differences = lambda made: (True, 0.0, 0.0, None)
        with unittest.mock.patch("stages.time.monotonic", side_effect=(0.01 * n for n in itertools.count())):
            stages.time_all()
        for label, values in seen.items():
            timed = [call.input for call in stages.kernels[label].calls]
            self.assertEqual(len(timed), 20)
            self.assertEqual(values, sorted(values), "an input came back")
            for value in timed[:-1]:
                self.assertEqual(values.count(value), 2, f"{label} was not woken with {value} before the next")


    def test_small_inputs_are_drawn_during_the_call_before(self):
        events, now = [], [0.0]

        def call(values, flags, moved, during):
            events.append(f"call {values['number']}")
            if during is not None:
                during()
            return unittest.mock.Mock(again=False)

        def draw(number, secret):
            now[0] += took
            events.append(f"draw {number}")
            if number == broken and events.count("draw 4") == 1:
                raise sides.Raised("no input", "inputs")
            return {"custom": {"number": number, "x": torch.zeros(size, dtype=torch.uint8), "again": torch.zeros(0)}}

        usual = ["draw 3", "call 3", "draw 4", "call 4", "draw 5", "call 5"]
        for size, took, broken, order in ((8, 0.001, None, ["draw 3", "call 3", "draw 4", "call 4", "draw 5", "call 5"]), (8, 0.001, 4, ["draw 3", "call 3", "draw 4", "draw 4", "call 4"]),
                                          (8, 0.006, None, usual), (9, 0.001, None, usual)):
            events.clear()
            stages = Stages.__new__(Stages)
            stages.request, stages.decision, stages.ends, stages.waking, stages.ahead, stages.drawing = {"num_trials": 20}, None, math.inf, math.inf, None, math.inf
            stages.clocks, stages.inputs = unittest.mock.Mock(kind="cuda", spare_bytes=lambda: 8), unittest.mock.Mock(draw=draw)
            stages.kernels = {"custom": unittest.mock.Mock(calls=[], call=call)}
            drawn = []
            stages.draw_ahead = lambda *given, stages=stages, drawn=drawn: (Stages.draw_ahead(stages, *given), drawn.append(stages.ahead is not None))
            with unittest.mock.patch("stages.time.monotonic", side_effect=lambda: now[0]):
                stages.time_all()
            self.assertEqual(events[: len(order)], order)
            self.assertEqual(any(drawn), took < 0.005 and size <= 8)

    def test_nothing_is_done_during_a_call_whose_clock_has_started(self):
        for early in (False, True):
            asked, during = unittest.mock.Mock(), unittest.mock.Mock()
            asked.starts_early.return_value, asked.hold.side_effect = early, Refused
            with self.assertRaises(Refused):
                Ranks([unittest.mock.Mock(cuda=None, ask=lambda *_: asked)]).call(lambda: [None], 0, during)
            self.assertEqual(during.called, not early)


class Waits(TorchDispatchMode):
    """Notes what would wait for a device: numbers that come to Python, and answers that depend on them."""

    def __init__(self, seen):
        super().__init__()
        self._seen = seen

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.overloadpacket.__name__ in ("_local_scalar_dense", "equal", "nonzero", "masked_select"):
            self._seen.append(function)
        return function(*args, **(kwargs or {}))


class Reusing(unittest.TestCase):
    @staticmethod
    def reference(calls=3, elements=0, taken=0.0):
        draw = trials.Draw(b"", trials.look([], "cpu")[0], [], [trials.Output(torch.zeros(elements), math.inf)])
        return reusing.Reference([draw], [None] * calls, None, taken, 9000)

    def at(self, seconds):
        return unittest.mock.patch.object(reusing.time, "monotonic", lambda: seconds)

    def test_a_reference_is_kept_for_ten_minutes_and_as_many_calls_as_it_has(self):
        kept, reference = reusing.Kept(), self.reference(calls=20, taken=100.0)
        with self.at(100.0):
            kept.keep("a", reference)
            kept.keep("unfit", None)
        with self.at(699.0):
            self.assertEqual((kept.find("a", 20), kept.find("a", 21), kept.find("b", 1), kept.find("unfit", 1)), (reference, None, None, None))
            self.assertEqual(kept.told(), {"a": {"calls": 20, "content": 9000}, "unfit": {"calls": 0, "content": 0}})
        with self.at(701.0):
            self.assertEqual((kept.find("a", 20), kept.told()), (None, {}))

    def test_the_least_recently_used_reference_makes_room(self):
        kept = reusing.Kept()
        with self.at(0.0), unittest.mock.patch.object(reusing, "MOST_REFERENCES", 4):
            for key in "abcd":
                kept.keep(key, self.reference())
            kept.find("a", 1)
            kept.keep("e", self.reference())
            self.assertEqual(sorted(kept.told()), ["a", "c", "d", "e"])
            with unittest.mock.patch.object(reusing, "MOST_BYTES", 4_000 + 4 * trials.OVERHEAD):
                kept.keep("f", self.reference(elements=900))
                kept.keep("g", self.reference(elements=90))
                self.assertEqual(sorted(kept.told()), ["a", "e", "f", "g"])
                kept.keep("h", self.reference(elements=900))
                self.assertEqual(sorted(kept.told()), ["g", "h"])

    def outputs(self, tensor, most):
        return trials.Draw(b"", trials.look([torch.rand(3)], "cpu")[0], [12], [trials.Output(tensor, most)])

    def test_an_undone_hundredth_is_found_in_every_type(self):
        for dtype in (*FLOATS, *INTS, "bool", "complex64", "complex128"):
            want = torch.ones(200, 500).to(getattr(torch, dtype))
            draw, done = self.outputs(want, reusing.LEAST_ELEMENTS), want.clone()
            self.assertEqual(draw.differences([done], HUNDREDTH, draw.look.sums), (True, 0.0, 0.0, None))
            done[7:9] = 0
            close, largest, _, first = draw.differences([done], HUNDREDTH, draw.look.sums)
            self.assertEqual((close, largest), (False, 1.0), dtype)
            self.assertEqual(sum(output.values.numel() for output in draw.outputs) * want.element_size(), reusing.LEAST_ELEMENTS * want.element_size(), dtype)
            self.assertTrue(7 * 500 <= first["element"] < 9 * 500, first)

    def test_nan_is_found_in_all_elements(self):
        want = torch.zeros(100_000)
        draw, got = self.outputs(want, reusing.LEAST_ELEMENTS), want.clone()
        got[31] = math.nan
        with self.assertRaisesRegex(compare.Mismatch, "Output 0 of the custom kernel holds 1 NaN where the reference has none; the first is element 31"):
            draw.differences([got], HUNDREDTH, draw.look.sums)
        empty = torch.zeros(0)
        draw = draw._replace(outputs=[trials.Output(empty, 1), *draw.outputs])
        with self.assertRaisesRegex(compare.Mismatch, "Output 1 of the custom kernel holds 1 NaN"):
            draw.differences([empty, got], HUNDREDTH, draw.look.sums)
        stages = self.recording(20)
        with self.assertRaisesRegex(compare.Mismatch, "Output 1 of the reference holds NaN"):
            stages.differences({"ref": unittest.mock.Mock(answer=[empty, got])})

    def test_all_of_a_small_answer_is_compared(self):
        want = torch.zeros(4, reusing.LEAST_ELEMENTS // 4)
        for place in range(0, want.numel(), 97):
            got = want.clone()
            got.view(-1)[place] = 1
            self.assertEqual(self.outputs(want, reusing.LEAST_ELEMENTS).differences([got], compare.Tolerance(0.1, 0), torch.zeros(0))[3]["element"], place)

    def test_places_differ_from_draw_to_draw(self):
        first, second = (trials.Output(torch.zeros(100_000), reusing.LEAST_ELEMENTS).places() for _ in range(2))
        self.assertFalse(torch.equal(first, second))

    def test_other_inputs_look_different(self):
        def other(value, place, by=1):
            changed = value.clone()
            changed.view(-1)[place] += by
            return changed

        def alike(one, two):
            (form, sums), (other_form, other_sums) = trials.look(one, "cpu")[0], trials.look(two, "cpu")[0]
            return form == other_form and torch.equal(sums, other_sums)

        ones = torch.ones(3, 4)
        for value, changed in ((ones, other(ones, 5)), (ones, ones.view(4, 3)), (ones, ones.double()), (ones, 1), (3, 4), ([ones], [other(ones, 0)]),
                               ({"a": ones}, {"a": other(ones, 11)}), (torch.full((2,), math.nan), torch.ones(2))):
            self.assertTrue(alike(value, value.clone() if isinstance(value, torch.Tensor) else value))
            self.assertFalse(alike(value, changed))
        large = torch.rand(300, 1000)
        for dtype in (*FLOATS, *INTS, "bool", "complex64"):
            value = large.to(getattr(torch, dtype)) if dtype not in INTS else (large * 100).to(getattr(torch, dtype))
            number, swapped, flipped = value.view(-1).view(torch.uint8), value.clone(), value.clone()
            swapped.view(-1).view(torch.uint8)[0], swapped.view(-1).view(torch.uint8)[-1] = 7, 77
            flipped.view(-1).view(torch.uint8)[77_777] ^= 128
            self.assertEqual((number.numel() > 77_777, alike(value, value.clone()), alike(value, swapped), alike(value, flipped)), (True, True, False, False), dtype)
            moved = flipped.view(-1).view(torch.uint8)
            moved[[77_777, 11_113]] = moved[[11_113, 77_777]]
            self.assertFalse(alike(flipped, moved.view(value.dtype).view(value.shape)) and not torch.equal(moved, flipped.view(-1).view(torch.uint8)), dtype)
        self.assertFalse(alike(large, large.t()))
        self.assertTrue(alike(large.t(), large.t().contiguous()))
        self.assertEqual(trials.look([large, 3, {"a": ones}], "cpu")[0].sums.shape, (2,))
        with unittest.mock.patch.object(trials, "PIECE", 1000):
            trials.weights.cache_clear()
            self.addCleanup(trials.weights.cache_clear)
            exchanged = torch.cat([large.view(-1)[1000:2000], large.view(-1)[:1000], large.view(-1)[2000:]]).view(300, 1000)
            self.assertEqual((alike(large, large.clone()), alike(large, exchanged), alike(large, other(large, 299_999))), (True, False, False))

    def recording(self, count, kind="host"):
        stages = reusing.Recording.__new__(reusing.Recording)
        stages.request, stages.draws, stages._bytes = {"num_trials": count, "atol": 0.01, "rtol": 0.01}, [], 0
        stages.generator = None
        stages.clocks, stages._drawn = unittest.mock.Mock(kind=kind, device="cpu"), (b"", trials.look([torch.ones(3)], "cpu")[0], [12])
        return stages

    def records(self, stages, answer):
        stages.differences({"ref": unittest.mock.Mock(answer=answer)})
        return stages.draws[-1].bytes()

    def test_a_reference_that_does_not_fit_is_not_kept(self):
        answer = [torch.zeros(1 << 18)]
        with unittest.mock.patch.object(reusing, "LARGEST", 20 << 20):
            for count, timed in ((20, (18 << 20) // 104), (800, (18 << 20) // 804), (100_000, None)):
                stages = self.recording(count)
                self.assertEqual([self.records(stages, answer) for _ in range(2)], [(1 << 20) + 2 * trials.OVERHEAD] * 2)
                if timed is None:
                    with self.assertRaisesRegex(reusing.Unfit, "no room for so many answers"):
                        self.records(stages, answer)
                else:
                    self.assertAlmostEqual(self.records(stages, answer), timed, delta=100)
            with self.assertRaisesRegex(reusing.Unfit, "too large"):
                self.records(self.recording(20), [torch.zeros(6 << 20)])

    def test_a_source_could_contain_the_answers_or_the_inputs_whichever_are_less(self):
        def draw(inputs, answer):
            look, tensors = trials.look(inputs, "cpu")
            return trials.Draw(b"", look, trials.packed(tensors), [trials.Output(answer, math.inf)])

        large, once, state = (lambda: torch.rand(40_000)), torch.rand(40_000), seeding.STATE
        for draws, atol, rtol, seeded, least, most in (
            ([draw([large()], large()) for _ in range(9)], 0, 0, False, 9 * 14_000, 9 * 16_384),
            ([draw([large(), {"n": 4000, "w": large()}], large()) for _ in range(9)], 0, 0, False, 9 * 14_000, 9 * 16_384),
            ([draw([large()], large()) for _ in range(9)], 0, 0, True, 9 * state, 9 * state),
            ([draw([torch.rand(100)], large()) for _ in range(9)], 0, 0, False, 9 * 300, 9 * 430),
            ([draw([torch.rand(100), once], large()) for _ in range(9)], 0, 0, False, 7_000, 8_000 + 9 * 430),
            ([draw([large()], torch.rand(1)) for _ in range(9)], 0, 0, False, 9 * 4, 9 * 4),
            ([draw([large()], torch.zeros(40_000)) for _ in range(9)], 0.1, 0.1, False, 9, 9 * 200),
            ([draw([torch.zeros(40_000)], large()) for _ in range(9)], 0, 0, False, 9, 200),
            ([draw([once], large()) for _ in range(9)], 0, 0, False, 14_000, 16_384),
            ([draw([large()], once) for _ in range(9)], 0, 0, False, 13_000, 16_384 + 9 * 200),
            ([draw([3, "x"], large()) for _ in range(9)], 0, 0, False, 0, 0),
            ([draw([large()], torch.empty(0))], 0, 0, False, 0, 0),
            # Of 4,000 numbers between 0 and 1, each is told by two bits, or by one.
            ([draw([large()], large()[:4000]) for _ in range(9)], 0.125, 0, False, 9 * 1_000, 9 * 2_000),
            ([draw([large()], large()[:4000]) for _ in range(9)], 0.5, 0, False, 9 * 450, 9 * 1_000),
            ([draw([large()], 1e9 * large()[:4000]) for _ in range(9)], 0.01, 0.125, False, 9 * 1_000, 9 * 2_500),
            ([draw([large()], (1e9 * large()[:2000]).to(torch.complex64)) for _ in range(9)], 0.01, 0, False, 9 * 4_000, 9 * 24_000),
            ([draw([large()], torch.randint(0, 100, (2000,))) for _ in range(9)], 0.01, 0.01, False, 9 * 1_000, 9 * 8_000),
        ):
            found = trials.content(draws, compare.Tolerance(atol, rtol), seeded)
            self.assertTrue(least <= found <= most, (least, found, most))

    def recalling(self, calls=3):
        stages = reusing.Recalling.__new__(reusing.Recalling)
        looks = [trials.look(torch.tensor([float(number)]), "cpu")[0] for number in range(2 + 4 + calls)]
        draws = [trials.Draw(number, look, [], [trials.Output(torch.ones(2), math.inf)]) for number, look in enumerate(looks)]
        stages._reference, stages.request = reusing.Reference(draws, [None] * calls, None, 0.0, 0), {}
        stages.tolerance, form = compare.Tolerance(0.1, 0), outputs.Form(False, [outputs.Part((), "tensor")])
        stages.pairing = outputs.pair(form, form)
        stages.clocks = unittest.mock.Mock(kind="host", device="cpu")
        stages._left = stages._reference.draws[2:]
        random.Random(1).shuffle(stages._left)
        stages.inputs = unittest.mock.Mock()
        stages.inputs.draw.side_effect = lambda trial, secret: {"ref": torch.tensor([float(secret)])}
        return stages

    def test_no_input_comes_twice_and_each_is_checked(self):
        stages = self.recalling()
        self.assertEqual(sorted(float(stages.draw(trial)["ref"]) for trial in range(9)), list(range(9)))
        stages = self.recalling()
        stages.inputs.draw.side_effect = lambda trial, secret: {"ref": torch.tensor([float(secret) + (trial == 4)])}
        for trial in range(5):
            stages.draw(trial)
            made = {"custom": unittest.mock.Mock(answer=[torch.ones(2) + trial % 2])}
            if trial < 4:
                self.assertEqual(stages.differences(made)[0], trial % 2 == 0)
        with self.assertRaises(sides.Lost):
            stages.differences(made)
        stages.inputs.draw.side_effect = lambda trial, seeds: {"ref": 3}
        with self.assertRaises(sides.Lost):
            stages.draw(5)

    def test_a_recording_ends_when_it_will_not_come_to_its_end(self):
        for first, seconds, calls in ((0, 0.09, 24), (0, 0.11, 3), (0.3, 0.05, 24)):  # one call may be disturbed
            stages = self.recording(20)
            stages.inputs, stages.ends = unittest.mock.Mock(), 2.5
            stages._last, stages._quickest = 0.0, math.inf
            stages.inputs.draw.side_effect = lambda trial, seeds: {"ref": []}
            made = 0
            with contextlib.suppress(reusing.Unfit):
                for trial in range(3, 3 + 4 + 20):
                    with self.at((trial - 3) * seconds + first * (trial > 3)):
                        stages.draw(trial)
                    made += 1
            self.assertEqual(made, calls)

    def test_many_small_answers_are_counted(self):
        stages = self.recording(100)
        with unittest.mock.patch.object(reusing, "LARGEST", 10 << 20):
            with self.assertRaisesRegex(reusing.Unfit, "no room for so many answers"):
                for _ in range(104):
                    self.records(stages, [torch.zeros(1)] * 100)

    def test_a_call_beside_a_kept_reference_waits_once_for_its_device(self):
        for answer in ([torch.ones(100_000), torch.ones(3, dtype=torch.int64)], [torch.ones(2)] * 5):
            draw, seen = self.outputs(answer[0], 1 << 16), []
            draw = draw._replace(outputs=[trials.Output(tensor, 1 << 16) for tensor in answer])
            with Waits(seen):
                self.assertEqual(draw.differences(answer, HUNDREDTH, draw.look.sums), (True, 0.0, 0.0, None))
            self.assertEqual(len(seen), 1, seen)
            stages, seen = self.recording(20), []
            stages.draws = [draw] * 2
            with Waits(seen):
                stages.differences({"ref": unittest.mock.Mock(answer=answer)})
            self.assertEqual(len(seen), 1, seen)

    def test_times_of_two_moments_are_not_compared_on_a_processor(self):
        stages, calls = self.recalling(calls=25), [unittest.mock.Mock(event=2_000_000)] * 25
        stages._reference = stages._reference._replace(calls=calls, clocks=unittest.mock.Mock())
        stages.clocks = unittest.mock.Mock(kind="cuda")
        stages.kernels = {"custom": unittest.mock.Mock(calls=calls)}
        self.assertEqual((stages.calls("ref"), set(stages.read({"custom": []}))), (calls, {"ref", "custom"}))
        stages.clocks.kind = "host"
        self.assertEqual((stages.calls("ref"), stages.calls("custom"), set(stages.read({"custom": []}))), (None, calls, {"custom"}))

    def test_times_of_two_moments_are_no_surer_than_times_in_turns(self):
        rng = random.Random(5)
        width = lambda interval: interval[1] - interval[0]  # noqa: E731
        for noise in (0.0, 0.002, 0.05):
            ref, custom = ([rng.lognormvariate(0, noise) for _ in range(100)] for _ in range(2))
            recalled = self.recalling()
            recalled.clocks = unittest.mock.Mock(kind="cuda")
            alone = timing.speedup(ref, custom, apart=recalled.apart(1.0, 1.0), paired=False)[1]
            self.assertGreaterEqual(width(alone), 0.9 * width(timing.speedup(ref, custom, apart=timing.apart(1.0, 1.0))[1]), noise)
        shared = [1 + 0.1 * rng.random() for _ in range(100)]  # slow and quick turns, which pairs cancel
        self.assertGreater(width(timing.speedup(shared, shared, paired=False)[1]), 0.01)
        self.assertEqual(timing.speedup(shared, shared)[1], [1, 1])
        self.assertEqual(timing.speedup(shared, shared[:40], paired=False)[0], statistics.median(shared) / statistics.median(shared[:40]))


class OurRunner(unittest.TestCase):
    def test_an_answer_that_is_too_large_for_our_runner_is_the_submissions_fault(self):
        runner = Runner.__new__(Runner)
        runner.cuda, runner.host = None, unittest.mock.Mock(most_bytes=lambda: 1 << 31)
        with self.assertRaises(Refused), by_our_runner():
            runner.grow((1 << 31) + 1)
        with self.assertRaises(TaskFailed), by_our_runner():
            raise Refused("of our own runner")

    def calls(self, size):
        return [Call(None, None, 1e3, 1e6, 1e6, 2e6, False, 0, 0, (size,), 2, 0)]

    def test_parts_that_overlap_take_more_memory_of_our_runner_than_the_answers_had(self):
        ours, host = Calibrator(), NoFlush()
        ours.start("host")
        ours.connect(host, [None])
        regions = Regions(host, None)
        self.addCleanup(regions.close)
        self.addCleanup(ours.end)
        regions.need({(INPUTS, HOST): 4096, (ANSWERS, HOST): 64 << 20})
        ours.use([regions])
        inputs = [numpy.zeros(8)]
        self.assertGreater(ours.constants(inputs, self.calls(65 << 20), 2).snapshot, 0)
        host.most_bytes = lambda: 66 << 20
        with self.assertRaisesRegex(Refused, "takes 209715200 bytes, and there is room for"):
            ours.constants(inputs, self.calls(200 << 20), 2)

    def test_overlapping_parts_for_which_a_device_has_no_room_are_the_submissions_fault(self):
        ours = Calibrator.__new__(Calibrator)
        cuda = unittest.mock.Mock(free_bytes=lambda: 40 << 30)
        runner = Runner(unittest.mock.Mock(), unittest.mock.Mock(), unittest.mock.Mock(), unittest.mock.Mock(most_bytes=lambda: 64 << 30), cuda)
        runner.regions.bytes = {(ANSWERS, HOST): 1 << 20, (ANSWERS, CUDA): 16 << 30}
        runner.regions.case.return_value = b"", []
        ours._kind, ours._runners = "cuda", [runner]
        ours._together = unittest.mock.Mock(call=unittest.mock.Mock(side_effect=RunnerGone))  # torch found no memory there
        for gigabytes, raised in ((16, TaskFailed), (19, TaskFailed), (24, Refused)):
            with self.assertRaises(raised):
                ours.constants([None], self.calls(gigabytes << 30), 2)

    def test_a_device_without_memory_for_regions_is_the_submissions_fault(self):
        for step in ("ask", "grow"):
            runner = unittest.mock.Mock(cuda=unittest.mock.Mock(starved=lambda error: "out of memory" in str(error)))
            getattr(runner, step).side_effect = RuntimeError("out of memory: the device has no 2097152 bytes to share")
            if step == "grow":
                runner.ask.return_value.hold.side_effect = NoRoom(1 << 20)
                runner.ask.return_value.runner = runner
            with self.assertRaisesRegex(Refused, "left too little of the device's memory"):
                Ranks([runner]).call(lambda: [None])

    def test_an_answer_on_a_device_may_be_larger_than_one_on_the_host(self):
        cuda = unittest.mock.Mock(free_bytes=lambda: 40 << 30)
        runner = Runner(unittest.mock.Mock(), unittest.mock.Mock(), unittest.mock.Mock(), unittest.mock.Mock(most_bytes=lambda: 4 << 30), cuda)
        runner.regions.bytes = {(ANSWERS, HOST): 1 << 20, (ANSWERS, CUDA): 64 << 20}
        runner.regions.need = runner.regions.bytes.update
        runner.regions.case.return_value = b"", []
        runner.grow(7 << 30)
        self.assertEqual(runner.regions.bytes, {(ANSWERS, HOST): 4 << 30, (ANSWERS, CUDA): 7 << 30})
        runner.grow(6 << 30)  # it is on the host
        with self.assertRaisesRegex(TooLarge, "takes 6442450944 bytes on the host, and there is room for 4294967296"):
            runner.grow(6 << 30)
        with self.assertRaisesRegex(TooLarge, "takes 22548578304 bytes, and there is room for 21474836480"):
            runner.grow(21 << 30)


class Described(unittest.TestCase):
    def test_an_answer_of_too_many_tensors_on_a_device_is_refused(self):
        def read(tensors):
            tensor = ["tensor", 1, "float32", [1], None, "answers", 0]
            return warpboard_answer.read(b"A" + json.dumps(["list", [tensor] * tensors]).encode(), {("answers", CUDA): 64 << 10})

        self.assertEqual(len(read(500)[1]), 500)
        with self.assertRaisesRegex(Refused, "more than 500 tensors on the device"):
            read(501)


class Seeding(unittest.TestCase):
    """What a kernel has seen of inputs must not tell all of them by less than a generator's state, since they may come back."""

    def of_a_seed(self, generator):
        first, second = generator.get_state()[24:40].view(torch.int64).tolist()
        return second == (1812433253 * (first ^ first >> 30) + 1) % 2**32

    def test_no_seed_of_32_bits_gives_the_inputs_of_a_secret(self):
        self.assertTrue(self.of_a_seed(torch.Generator().manual_seed(1 << 40 | 7)))
        self.assertFalse(self.of_a_seed(seeding.generator("cpu", 7, b"secret")))
        seeding.draw_from(b"secret")
        self.assertFalse(self.of_a_seed(torch.default_generator))

    def test_a_secret_gives_the_same_numbers_again_and_others_give_others(self):
        def numbers(secret):
            seeding.draw_from(secret)
            tensor = torch.randn(20, generator=seeding.generator("cpu", 7, secret))
            return [torch.randn(20).tolist(), random.random(), numpy.random.rand(), tensor.tolist(), tensor.sort()[0].tolist()]

        self.assertEqual(numbers(b"one"), numbers(b"one"))
        for one, other in zip(numbers(b"one"), numbers(b"two")):
            self.assertNotEqual(one, other)
        self.assertNotEqual(seeding.generator("cpu", 7, b"one").get_state().tolist(), seeding.generator("cpu", 8, b"one").get_state().tolist())

    def test_a_seed_gives_the_same_numbers_again(self):
        def numbers():
            seeding.seed(42)
            return [torch.rand(9).tolist(), random.random(), numpy.random.rand()]

        self.assertEqual(numbers(), numbers())

    def test_drawn_numbers_are_as_random_as_from_a_seed(self):
        drawn = torch.rand(1_000_000, generator=seeding.generator("cpu", 7, b"secret"))
        self.assertAlmostEqual(drawn.mean().item(), 0.5, delta=0.002)
        self.assertAlmostEqual(drawn.var().item(), 1 / 12, delta=0.001)

    def test_another_layout_of_the_state_is_said(self):
        with unittest.mock.patch.object(seeding, "_AT", 32), self.assertRaisesRegex(RuntimeError, "in another place"):
            seeding.generator("cpu", 7, b"secret")


class Deciding(unittest.TestCase):
    def stopped(self, wanted, ratio, most=641, noise=0.05, rng=random, apart=lambda *_: 0.0):
        """(why, after how many calls) timing two kernels ends whose medians have the ratio."""
        decision = deciding.Decision({"confidence": 0.95, **wanted}, most, apart)
        ref, custom = [], []
        for _ in range(most):
            ref.append(ratio * rng.lognormvariate(0, noise))
            custom.append(rng.lognormvariate(0, noise))
            if (why := decision.reached(ref, custom)) is not None:
                return why, len(custom)
        return None, most

    def test_few_calls_decide_what_is_clear_and_more_what_is_close(self):
        rng = random.Random(1)
        self.assertEqual(self.stopped({"speedup_above": 1.1}, 2, rng=rng), ("speedup_above", 20))
        self.assertEqual(self.stopped({"speedup_below": 1.1}, 0.5, rng=rng), ("speedup_below", 20))
        why, calls = self.stopped({"speedup_above": 1.1}, 1.13, rng=rng)
        self.assertEqual(why, "speedup_above")
        self.assertGreater(calls, 20)
        self.assertEqual(self.stopped({"half_width": 0.01}, 1, noise=0.001, rng=rng), ("half_width", 20))
        self.assertEqual(self.stopped({"half_width": 0.01}, 1, noise=0.5, rng=rng)[0], None)
        self.assertEqual(self.stopped({"half_width": 0.01}, 1, noise=0.001, rng=rng, apart=lambda *_: 0.02)[0], None)  # no number of calls helps

    def test_all_looks_together_are_wrong_no_more_often_than_asked_for(self):
        rng = random.Random(2)
        wrong = sum(self.stopped({"speedup_above": 1.05, "confidence": 0.8}, 1.05, rng=rng)[0] is not None for _ in range(400))
        self.assertLess(wrong, 0.2 * 400)

    def test_what_a_clock_that_lies_has_stopped_is_not_confirmed(self):
        decision = deciding.Decision({"confidence": 0.95, "speedup_above": 1.5, "speedup_below": 0.9, "half_width": 0.1}, 100, lambda *_: 0.0)
        self.assertEqual(decision.reached([1.0] * 20, [1e-6] * 20), "speedup_above")
        for reason, interval, holds in (("speedup_above", (0.9, 1.1), False), ("speedup_above", (1.6, 2.0), True), ("speedup_below", (0.5, 0.8), True),
                                        ("speedup_below", (0.5, 1.0), False), ("half_width", (0.95, 1.05), True), ("half_width", (0.5, 1.5), False)):
            self.assertEqual(decision.holds(reason, interval), holds, (reason, interval))

    def test_the_median_of_one_kernel_is_enough_without_a_reference(self):
        decision = deciding.Decision({"confidence": 0.95, "half_width": 0.05}, 100, None)
        self.assertEqual(decision.level, 1 - 0.05 / 4)  # looks at 20, 40 and 80, and the end
        self.assertEqual(decision.reached(None, [1.0] * 20), "half_width")
        self.assertIsNone(decision.reached(None, [1.0] * 21))
        self.assertIsNone(decision.reached(None, [1.0, 2.0] * 10))
        self.assertIsNone(decision.reached(None, [0.0] * 20))  # says a clock that lies


class SetUp(unittest.TestCase):
    def test_our_runner_is_forked_before_torch_is_asked_for_a_gpu(self):
        order = []
        with unittest.mock.patch.object(timekeeper, "Calibrator", lambda: order.append("forked")), \
             unittest.mock.patch.object(torch.cuda, "is_available", lambda: order.append("asked")), \
             self.assertRaisesRegex(RuntimeError, "no GPU"):
            Timekeeper("cuda", True, True)
        self.assertEqual(order, ["forked", "asked"])

    def constants(self, at, value=0.0, early=False, kind="cuda", cold=True):
        """Whether the constants of an evaluation that ends then are measured."""
        measured = []
        ours = unittest.mock.Mock(use=lambda _: None, early=lambda: early)
        ours.constants = lambda *_: measured.append(at) or Constants(kind, 150e3, 160e3, 1e3, 1e3, 40e3, 145e3, 12e3)
        with unittest.mock.patch.object(timekeeper, "_set_up", lambda *_: (None, None, ours)), \
             unittest.mock.patch.object(timekeeper.time, "monotonic", lambda: at):
            calls = [Call(None, None, 1e3, 2e5, 2e5, 3e5, False, 40e3, 145e3, (4,), 1, 0, True)] * 20
            for reference in (True, False):
                Timekeeper(kind, cold, True).read(calls, (torch.zeros(4), value), None, True, reference, None)
        return len(measured)

    def test_a_device_that_was_just_used_is_not_woken(self):
        timekeeper._kept.cache_clear()
        self.addCleanup(timekeeper._kept.cache_clear)
        woken = []

        def evaluation(begins, ends):
            device = unittest.mock.Mock(warm_up=lambda: woken.append(begins))
            with unittest.mock.patch.object(timekeeper, "_set_up", lambda *_: (None, device, None)), \
                 unittest.mock.patch.object(timekeeper.time, "monotonic", side_effect=[begins, begins, ends]):
                clocks = Timekeeper("cuda", True, True)
                clocks.warm_up()
                clocks.used()
        for begins in (10.0, 18.0, 28.0):
            evaluation(begins, begins + 1)
        self.assertEqual(woken, [10.0, 28.0])

    def test_constants_hold_for_half_a_minute_of_evaluations_with_such_inputs(self):
        timekeeper._kept.cache_clear()
        self.addCleanup(timekeeper._kept.cache_clear)
        self.assertEqual([self.constants(at) for at in (1000, 1029, 1031, 1060, 1062)], [1, 0, 1, 0, 1])
        self.assertEqual([self.constants(1063, 1.0), self.constants(1063, cold=False)], [1, 1])
        self.assertEqual([self.constants(2000, early=True), self.constants(2000, kind="host")], [2, 2])


class Leaving(unittest.TestCase):
    """Processes of kernels may end after their evaluation."""

    def left(self, timed, known=(), room=True, kind="cuda"):
        """Whether an evaluation with two kernels leaves them behind, after calls whose constants are known."""
        done = []
        stages = Stages.__new__(Stages)
        stages.clocks = Timekeeper.__new__(Timekeeper)
        stages.clocks._constants, stages.clocks._cold, stages.clocks._recent = {}, True, lambda key: "known" if key[1] in known else None
        stages.clocks._cuda = object() if kind == "cuda" else None
        for label in ("custom", "ref"):
            side = unittest.mock.Mock()
            side.dismiss.side_effect = lambda: done.append("dismissed")
            side.end.side_effect = done.append
            stages.kernels = {**getattr(stages, "kernels", {}), label: side}
        stages.generator = None
        calls = lambda size: [unittest.mock.Mock(size=size)] * 3  # noqa: E731
        with unittest.mock.patch.object(torch.cuda, "mem_get_info", lambda: (90 if room else 80, 100)):
            stages.end(*(({label: calls(size) for label, size in sizes.items()}, dict.fromkeys(sizes, torch.zeros(1))) for sizes in timed))
        self.assertEqual(done[:2], ["dismissed"] * 2)  # all, before any is waited for
        self.assertEqual(done[2], done[3])
        return not done[3]

    def test_processes_must_have_ended_before_constants_are_measured(self):
        both = {"custom": 4, "ref": 8}
        self.assertTrue(self.left([]))  # nothing was timed
        self.assertTrue(self.left([both], known=(4, 8)))
        self.assertTrue(self.left([both, {"ref": 4}], known=(4, 8)))
        self.assertFalse(self.left([both], known=(4,)))
        self.assertFalse(self.left([both, {"custom": 5}], known=(4, 8)))

    def test_processes_must_have_ended_before_others_need_their_memory(self):
        self.assertFalse(self.left([], room=False))
        self.assertFalse(self.left([], kind="host"))

    def test_known_constants_do_not_become_unknown(self):
        stages = unittest.mock.Mock(_constants={}, _cold=True, _recent=unittest.mock.Mock(side_effect=["known"]))
        stages._key = lambda *given: Timekeeper._key(stages, *given)
        calls = [unittest.mock.Mock(size=4)]
        self.assertEqual([Timekeeper.knows(stages, calls, torch.zeros(1)) for _ in range(2)], [True, True])
        self.assertEqual(list(stages._constants.values()), ["known"])

    def test_an_evaluation_begins_its_checks_when_the_one_before_has_ended(self):
        gone, alive = os.pipe()
        self.addCleanup(os.close, gone)
        clocks, seen = Timekeeper.__new__(Timekeeper), []
        with unittest.mock.patch.object(timekeeper, "_EARLIER_FD", gone), unittest.mock.patch.object(timekeeper, "_LEAVING", 0):
            with self.assertRaisesRegex(TaskFailed, "has not ended"):
                clocks.wait_alone()
            os.close(alive)
            clocks.wait_alone()
            clocks.wait_alone()
        for good in (True, False):
            stages = Stages.__new__(Stages)
            stages.request, stages.kernels, stages.report, stages.pipe = {}, {"custom": None}, {}, unittest.mock.Mock()
            stages.load_one, stages.clocks = lambda _, good=good: good, unittest.mock.Mock(wait_alone=lambda good=good: seen.append(good))
            self.assertEqual(stages.load(), good)
        self.assertEqual(seen, [True, False])

    def test_the_reference_is_timed_alone_in_each_case(self):
        stages, seen, order = Cases.__new__(Cases), [], []
        stages.clocks, stages.kernels = unittest.mock.Mock(kind="cuda"), {label: unittest.mock.Mock() for label in ("custom", "ref")}
        stages.pipe = unittest.mock.Mock(tell=lambda **message: order.append(message))
        stages.hand_on, stages.end, stages.time_alone = lambda: None, lambda *_: order.append("end"), lambda values, turns: ["alone", values["ref"], turns]
        stages.tell_times = lambda values, alone: [seen.append((alone, stages.inputs.contract("ref"), stages.report)), order.append("read")]
        stages.timed = [(f"report {number}", unittest.mock.Mock(contract=lambda label, number=number: f"contract {number} of {label}"), None,
                         {"ref": number, "custom": number}, {"custom": [], "ref": [f"turn {number}"]}) for number in (1, 2)]
        stages.read_all()
        self.assertEqual(seen, [(["alone", number, [f"turn {number}"]], f"contract {number} of ref", f"report {number}") for number in (1, 2)])
        self.assertEqual([call.args for call in stages.kernels["ref"].begin.mock_calls], [("contract 1 of ref",), ("contract 2 of ref",)])
        # Processes for later evaluations are prepared when nothing is left to measure
        self.assertEqual(order, ["end", "read", "read", {"may_prepare": True}])

    def test_cases_after_one_without_time_are_only_checked(self):
        for late, wrong, want in ((None, None, ["timed 1", "timed 2", "timed 3", "read"]), (2, None, ["timed 1", "late 2", "end"]), (None, 2, ["timed 1", "wrong 2", "end"])):
            stages, seen = Cases.__new__(Cases), []
            stages.request, stages.late, stages.clocks, stages.reports = {"cases": [1, 2, 3]}, False, unittest.mock.Mock(), []
            stages.stage, stages.save, stages.blame, stages.read_all = lambda _: None, lambda: None, lambda _: None, lambda: seen.append("read")
            stages.end, stages.inputs, stages.decision, stages.timed, stages.timed_calls = lambda: seen.append("end"), None, None, [], dict

            def begin(case, stages=stages):
                stages.report = {"correctness": True}
                stages.reports.append(stages.report)
                return True

            def time_all(stages=stages, seen=seen, late=late, wrong=wrong):
                number = len(stages.reports)
                seen.append(f"{'late' if number == late else 'wrong' if number == wrong else 'timed'} {number}")
                if number in (late, wrong):
                    raise OutOfTime("late") if number == late else compare.Mismatch("wrong")

            stages.begin, stages.validate, stages.time_all = begin, lambda: True, time_all
            stages.go()
            self.assertEqual(seen, want)
            self.assertEqual([report["correctness"] for report in stages.reports], [True, False] if wrong else [True] * 3)

    def test_a_copy_is_in_the_answers_region_if_torch_uses_other_memory(self):
        region = warpboard_cuda._Region.__new__(warpboard_cuda._Region)
        region.address, region.size, region._used, region._end, region._copies, region._pool = 1 << 20, 4096, 1024, 4096, [], object()
        region._torch = unittest.mock.MagicMock(**{"empty.return_value.data_ptr.return_value": 0})
        self.assertEqual([region.take(1000), region.take(1000)], [3072, 2048])
        with self.assertRaises(NoRoom):
            region.take(1500)
        region.begin()
        self.assertEqual(region.take(3000), 1024)

    def side(self, **sent):
        """A side with a real channel, and the runner's end."""
        here, there = socket.socketpair()
        gone, alive = os.pipe()
        self.addCleanup(there.close)
        self.addCleanup(os.close, alive)
        page = unittest.mock.Mock()
        core = unittest.mock.Mock(close=lambda: sent.setdefault("forgotten", True))
        cuda = unittest.mock.Mock(core=unittest.mock.Mock(runner=lambda channel, seen: core if seen is page else None))
        door = unittest.mock.Mock(over=lambda number: sent.setdefault("over", number))
        return sides.Side("inputs", door, (3, Channel(here, gone), page), unittest.mock.Mock(), unittest.mock.Mock(), cuda), there, sent

    def test_a_process_that_is_let_go_is_not_waited_for(self):
        for loaded in (None, (None, 0.1)):
            side, there, sent = self.side()
            side._loaded = loaded
            if loaded is None:
                there.sendall(struct.pack("<II", READY, 0))  # which is not read
            side.dismiss()
            side.end(wait=False)  # the life line has not ended
            side.end()
            self.assertEqual(sent, {"over": 3, "forgotten": True})
            self.assertEqual(there.recv(100), struct.pack("<II", END, 0))  # once


class Unfilled(unittest.TestCase):
    def test_arguments_without_values_have_the_forms_of_those_with_values(self):
        io = {"args": [{"type": "tensor", "name": "x", "tensor_spec": {"shape": [2, 3], "dtype": "bfloat16", "init": {"kind": "randn"}}},
                       {"type": "int", "name": "n", "value": 4}, {"type": "tensor", "name": "out", "role": "output", "tensor_spec": {"shape": [5]}}]}
        made = contract.unfilled(io, "cpu")
        for unfilled, filled in zip(made, contract.materialise(io, None, "cpu"), strict=True):
            if isinstance(filled, torch.Tensor):
                self.assertEqual((unfilled.shape, unfilled.dtype), (filled.shape, filled.dtype))
        self.assertEqual(made[1], 4)
        io["args"][2]["tensor_spec"]["shape"] = [-5]
        with self.assertRaises(contract.ContractError):
            contract.unfilled(io, "cpu")


class Preparing(unittest.TestCase):
    def test_a_process_is_prepared_for_a_kind_of_kernel(self):
        made = []

        def device(page):
            made.append("device")
            self.assertEqual(len(page.memory), PAGE_SIZE)
            return page

        def library(name):
            made.append(name)
            raise OSError("it has another name")

        for role, kind, gpu, want in (("kernel", "torch", True, ["device", "PyTorch"]), ("kernel", "triton", True, ["device", "Triton"]),
                                      ("kernel", "cuda", True, ["device"]), ("inputs", "torch", True, []), ("kernel", "torch", False, [])):
            made.clear()
            with unittest.mock.patch.object(torch.cuda, "is_available", lambda gpu=gpu: gpu), \
                 unittest.mock.patch.multiple(kernel_process, choose_cuda=device, load_usual_kernels=lambda: library("PyTorch"),
                                              ask_for_ptxas=lambda: library("Triton")):
                kept = kernel_process.prepare(role, kind)
            self.assertEqual(made, want, (role, kind, gpu))
            self.assertEqual(kept is not None, "device" in want, "the device is dropped")


class Drawing(unittest.TestCase):
    def test_large_inputs_are_drawn_on_the_gpu_where_get_inputs_runs_there(self):
        places, calls = ["cpu"], []

        class Device:
            def __init__(self, name):
                self.name = name

            def __enter__(self):
                places.append(self.name)

            def __exit__(self, *_):
                places.pop()

        for gpu, size, fails, want in ((True, 1 << 26, "", ["cpu", "meta", "cuda", "cuda"]), (True, 1 << 20, "", ["cpu", "meta", "cpu", "cpu"]),
                                       (False, 1 << 26, "", ["cpu", "cpu", "cpu"]), (True, 1 << 26, "meta", ["cpu", "meta", "cpu", "cpu"]),
                                       (True, 1 << 26, "cuda", ["cpu", "meta", "cuda", "cpu", "cpu"])):
            def get_inputs():
                calls.append(places[-1])
                if places[-1] == fails:
                    raise RuntimeError("expected all tensors to be on the same device")
                return [torch.empty(size, device="meta") if places[-1] == "meta" else torch.rand(1)]

            calls.clear()
            served = kernel_process.Served(types.SimpleNamespace(module=types.SimpleNamespace(get_inputs=get_inputs)), None)
            with unittest.mock.patch.object(torch.cuda, "is_available", lambda gpu=gpu: gpu), unittest.mock.patch.object(torch, "device", Device):
                drawn = [served.draw(secret, {}) for secret in (None, b"1" * 32, b"2" * 32)]
            self.assertEqual(calls, want, (gpu, size, fails))
            self.assertEqual(len({packing.unpack(one, "cpu")[0].item() for one in drawn}), 3)


class Descriptors(unittest.TestCase):
    """A judge and its own runners that stay have as many files open after any number of evaluations."""

    def after_each(self, evaluation):
        evaluation()
        before = len(os.listdir("/proc/self/fd"))
        evaluation()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_the_judge_closes_those_of_the_process_that_draws_inputs(self):
        def evaluation():
            clocks = Timekeeper("host", False, False)
            regions, host, _ = clocks.quiet()
            regions.need({(INPUTS, HOST): 1, (ANSWERS, HOST): 1})
            host.rehearse()
            clocks.end()

        self.after_each(evaluation)

    def test_our_runner_closes_that_of_the_last_input(self):
        def evaluation():
            regions = warpboard_runner.Regions([(HOST, INPUTS, 1 << 20)], [shared_memory(1 << 20)], None)
            regions.inputs[HOST].replace(shared_memory(1 << 20))
            regions.close()

        self.after_each(evaluation)


class Compiled(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.addCleanup(os.environ.pop, "TRITON_CACHE_DIR", None)
        os.chdir(self.folder.name)
        self.use("one")

    def use(self, name):
        os.environ["TRITON_CACHE_DIR"] = os.path.join(self.folder.name, name, "triton")

    def write(self, path, text):
        path = os.path.join(compiled.top(), path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def hand_on(self, text):
        with open(compiled.ARCHIVE, "wb") as file:
            file.write(json.dumps({"custom": text, "ref": ""}).encode())

    def names(self, cache):
        return {os.path.basename(path) for path in cache.files() if path.startswith("triton")}

    def test_what_a_run_added_is_there_for_the_next_one(self):
        self.write("triton/A/cuda_utils.so", "driver")
        self.write("triton/B/__triton_launcher.so", "launcher")
        first = compiled.Caches("custom")
        self.assertIsNone(first.added())
        self.write("triton/C/add.cubin", "cubin")
        compiled.remember(b"image", "source", ["option"])
        self.write("torch_extensions/x.so", "not a kernel's")
        self.hand_on(first.added())
        self.use("two")
        second = compiled.Caches("custom")
        self.assertEqual(self.names(second), {"__triton_launcher.so", "add.cubin"})
        self.assertEqual(compiled.recall("source", ["option"]), b"image")
        self.assertIsNone(compiled.recall("source", ["other"]))
        self.assertIsNone(second.added())

    def test_a_run_that_needed_more_hands_on_all_of_it(self):
        first = compiled.Caches("custom")
        self.write("triton/C/add.cubin", "cubin")
        self.hand_on(first.added())
        self.use("two")
        second = compiled.Caches("custom")
        self.write("triton/D/mul.cubin", "cubin")
        self.hand_on(second.added())
        self.use("three")
        self.assertEqual(self.names(compiled.Caches("custom")), {"add.cubin", "mul.cubin"})

    def test_what_another_kernel_compiled_stays_away(self):
        first = compiled.Caches("custom")
        self.write("triton/C/add.cubin", "cubin")
        self.hand_on(first.added())
        self.use("two")
        self.assertEqual(self.names(compiled.Caches("ref")), set())

    def test_an_archive_that_is_none_costs_a_compilation_and_nothing_else(self):
        self.hand_on("AAAA")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            caches = compiled.Caches("custom")
        self.assertIn("compiled again", said.getvalue())
        self.write("triton/C/add.cubin", "cubin")
        self.assertIsNotNone(caches.added())

    def test_user_code_cannot_move_the_caches(self):
        self.write("triton/B/__triton_launcher.so", "launcher")
        caches = compiled.Caches("custom")
        self.write("triton/C/add.cubin", "cubin")
        self.use("elsewhere")
        self.hand_on(caches.added())
        self.assertEqual(self.names(compiled.Caches("custom")), {"__triton_launcher.so", "add.cubin"})

    def test_too_much_is_not_sent(self):
        caches = compiled.Caches("custom")
        self.write("triton/A/add.cubin", "".join(map(str, os.urandom(3 * compiled.LARGEST))))
        self.assertIsNone(caches.added())

    def test_without_a_cache_nothing_is_kept(self):
        del os.environ["TRITON_CACHE_DIR"]
        compiled.remember(b"image", "source")
        self.assertEqual((compiled.recall("source"), compiled.Caches("custom").files(), compiled.Caches("custom").added()), (None, set(), None))

    def test_no_room_for_a_cache_is_no_error(self):
        os.environ["TRITON_CACHE_DIR"] = os.path.join(os.devnull, "triton")
        compiled.remember(b"image", "source")

    def test_headers_of_the_host_are_stood_in_for_where_nvrtc_lacks_them(self):
        class Library:
            """Finds what it is given, and fails at the first of the other headers."""

            nvrtcGetLoweredName = nvrtcAddNameExpression = lambda *_: None

            def nvrtcCreateProgram(self, program, source, name, count, texts, names):
                self.given = {names[i].decode(): texts[i].decode() for i in range(count)}
                self.source, self.log = source.decode(), b""

            def nvrtcCompileProgram(self, *_):
                wanted = (name for name in re.findall(r"#include <(.*)>", self.source) if name not in self.given)
                if name := next(wanted, None):
                    self.log = f'k.cu(1): catastrophic error: cannot open source file "{name}"'.encode()
                return 1 if self.log else 0

            def nvrtcGetProgramLogSize(self, program, size):
                size._obj.value = len(self.log) + 1

            def nvrtcGetProgramLog(self, program, buffer):
                buffer.value = self.log

            def nvrtcGetCUBINSize(self, program, size):
                size._obj.value = 1

            def nvrtcGetCUBIN(self, program, buffer):
                buffer.raw = b"!"

        def translate(source):
            library = Library()
            kernel = nvrtc.CudaKernel({"source_code": source, "io": {"args": []}}, "custom", "cuda")
            return library, kernel.translate(library, [], "k")[0]

        os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0a"
        self.addCleanup(os.environ.pop, "TORCH_CUDA_ARCH_LIST")
        library, image = translate("\ufeff#include <stdio.h>\r\n#include <cstdint>\r\n__global__ void k() {}\r\n")
        self.assertEqual((image, list(library.given)), (b"!", ["stdio.h", "cstdint"]))
        self.assertIn("typedef unsigned long long uint64_t;", library.given["cstdint"])
        self.assertEqual(library.source, "#include <stdio.h>\n#include <cstdint>\n__global__ void k() {}\n")
        with self.assertRaisesRegex(kernels.CompileError, 'cannot open source file "cutlass/cutlass.h"'):
            translate("#include <stdio.h>\n#include <cutlass/cutlass.h>\n")

    def test_nvrtc_is_asked_once_for_the_same_source_options_and_kernel(self):
        asked, loaded = [], []
        library = os.path.join(self.folder.name, "libnvrtc.so.13")
        with open(library, "w") as file:
            file.write("13.0")

        def translate(kernel, library, expressions, wanted):
            asked.append(wanted)
            return b"image\nof " + wanted.encode(), b"_Z" + wanted.encode()

        def build(wanted, **metadata):
            code = {"source_code": "__global__ void f(float* x) {}", "io": {"args": []}, "metadata": metadata}
            return nvrtc.CudaKernel(code, "custom", "cuda").build([wanted], wanted)

        os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0a"
        self.addCleanup(os.environ.pop, "TORCH_CUDA_ARCH_LIST")
        found = {"load_nvrtc": lambda: loaded.append(1), "libraries": lambda: [library]}
        with unittest.mock.patch.multiple(nvrtc, **found), unittest.mock.patch.multiple(nvrtc.CudaKernel, translate=translate):
            self.assertEqual(build("f"), (b"image\nof f", b"_Zf"))
            self.assertEqual(build("f"), (b"image\nof f", b"_Zf"))
            self.assertEqual((asked, loaded), (["f"], [1]))  # it is loaded only to compile
            self.assertEqual(build("g")[1], b"_Zg")
            build("f", compiler_options=["-O1"])
            os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0"
            build("f")
            self.assertEqual(asked, ["f", "g", "f", "f"])
            with open(library, "a") as file:
                file.write(".88")
            build("f")
        self.assertEqual((asked[4:], len(loaded)), (["f"], 5))


if __name__ == "__main__":
    unittest.main()
