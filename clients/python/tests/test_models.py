"""Tests that models have the API's field names, and refuse values that cannot be sent."""

import json
import unittest

from warpboard import (
    ArgSpec, IOContract, KernelCode, KernelType, LaunchConfig, LaunchDim, RuntimeStats, TensorData, TensorInit,
    TensorSpec,
)

# A body as the API documents it, with every field.
DOCUMENTED = {
    "source_code": "__global__ void f(float* x, int n) {}",
    "kernel_type": "cuda",
    "io": {
        "args": [
            {
                "name": "x", "type": "tensor", "role": "inout", "is_meta": False,
                "tensor_spec": {
                    "shape": [2, 3], "dtype": "bfloat16",
                    "init": {"kind": "uniform", "seed": 7, "low": -1.0, "high": 1.0},
                    "data": {"data_b64": "AAAAAA==", "dtype": "float32", "shape": [1], "compress": "none"},
                },
            },
            {"name": "n", "type": "int", "value": 6, "role": "input", "is_meta": True},
        ],
        "launch": {
            "grid": {"x": "cdiv(n, 4)", "y": 2, "z": 1}, "block": {"x": 4, "y": 1, "z": 1},
            "num_warps": 4, "num_stages": 2, "shared_mem": 1024, "kernel_name": "f",
        },
    },
    "metadata": {"kernel_name": "f", "compiler_options": ["-O3"]},
}


class RoundTrip(unittest.TestCase):
    def test_a_documented_kernel_comes_back_as_it_was(self):
        self.assertEqual(KernelCode.from_dict(DOCUMENTED).to_dict(), DOCUMENTED)

    def test_json_is_the_dict(self):
        kernel = KernelCode.from_dict(DOCUMENTED)
        self.assertEqual(json.loads(kernel.to_json()), DOCUMENTED)
        self.assertIn("\n  ", kernel.to_json(pretty=True))

    def test_what_is_none_is_left_out(self):
        self.assertEqual(KernelCode("x", KernelType.TORCH).to_dict(), {"source_code": "x", "kernel_type": "torch"})
        self.assertEqual(TensorInit("zeros").to_dict(), {"kind": "zeros"})

    def test_defaults_are_the_apis(self):
        self.assertEqual(TensorSpec().to_dict(), {"shape": [], "dtype": "float32"})
        self.assertEqual(TensorInit().kind, "randn")
        self.assertEqual(LaunchDim().to_dict(), {"x": 1, "y": 1, "z": 1})
        self.assertEqual(TensorData("").to_dict(), {"data_b64": "", "dtype": "float32", "shape": [], "compress": "none"})

    def test_unknown_keys_are_refused_in_a_kernel_and_ignored_below(self):
        with self.assertRaisesRegex(ValueError, "unknown keys index"):
            KernelCode.from_dict({**DOCUMENTED, "index": 1})
        self.assertEqual(TensorInit.from_dict({"kind": "ones", "x": 1}), TensorInit("ones"))

    def test_dicts_stand_for_models(self):
        kernel = KernelCode(DOCUMENTED["source_code"], "cuda", io=DOCUMENTED["io"], metadata=DOCUMENTED["metadata"])
        self.assertIsInstance(kernel.io.launch.grid, LaunchDim)
        self.assertIs(kernel.kernel_type, KernelType.CUDA)

    def test_runtime_stats_fill_in_what_is_missing(self):
        stats = RuntimeStats.from_dict({"mean": 1.5, "other": 2})
        self.assertEqual((stats.mean, stats.percentile_99), (1.5, 0.0))


class Refusals(unittest.TestCase):
    def test_each_wrong_value_is_named(self):
        spec = TensorSpec([4])
        wrong = {
            "KernelCode.kernel_type: 'Torch' is not one of torch, torch_cuda, triton": lambda: KernelCode("x", "Torch"),
            "KernelCode.source_code: text": lambda: KernelCode(None, "torch"),
            "KernelCode.metadata: a dict": lambda: KernelCode("x", "torch", metadata="f"),
            "KernelCode.io: IOContract or a dict is needed, not list": lambda: KernelCode("x", "torch", io=[]),
            "Tensor argument 'x' requires tensor_spec": lambda: ArgSpec("x", "tensor"),
            "Scalar argument 'n' requires value": lambda: ArgSpec("n", "int"),
            "Argument 'n': type: 'double' is not one of": lambda: ArgSpec("n", "double", value=1.0),
            "Argument 'x': role: 'in' is not one of": lambda: ArgSpec("x", "tensor", tensor_spec=spec, role="in"),
            "Scalar argument 'n': nan cannot be sent": lambda: ArgSpec("n", "float", value=float("nan")),
            "IOContract.args: a list": lambda: IOContract(None),
            r"IOContract.args\[1\]: ArgSpec or a dict": lambda: IOContract([ArgSpec("n", "int", 1), 3]),
            "TensorSpec.shape: an integer is needed, not 2.5": lambda: TensorSpec([2.5]),
            "TensorSpec.shape: -1 is below 0": lambda: TensorSpec([-1]),
            "dtype 'float8' is not one of float64": lambda: TensorSpec([1], "float8"),
            "TensorInit.kind: 'normal' is not one of": lambda: TensorInit("normal"),
            "TensorInit.seed: an integer": lambda: TensorInit(seed="a"),
            "TensorInit.std: a number is needed, not 'wide'": lambda: TensorInit(std="wide"),
            "TensorInit.high: inf cannot be sent": lambda: TensorInit("uniform", high=float("inf")),
            "TensorData.data_b64: base64 text": lambda: TensorData(b"AAAA"),
            "TensorData.compress: 'gzip' is not one of none, zlib": lambda: TensorData("", compress="gzip"),
            "LaunchConfig.grid: LaunchDim or a dict is needed, not list": lambda: LaunchConfig(grid=[4]),
            "LaunchConfig.num_warps: 0 is below 1": lambda: LaunchConfig(num_warps=0),
            "LaunchConfig.shared_mem: -1 is below 0": lambda: LaunchConfig(shared_mem=-1),
            "LaunchDim.y: 0 is below 1": lambda: LaunchDim(1, 0),
            "LaunchDim.x: 'n;m' is neither": lambda: LaunchDim("n;m"),
            "KernelCode: .*source_code": lambda: KernelCode.from_dict({"kernel_type": "torch"}),
            "ArgSpec: a dict is needed": lambda: ArgSpec.from_dict("x"),
        }
        for message, make in wrong.items():
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                make()

    def test_sizes_may_be_numbers_in_text_and_expressions(self):
        self.assertEqual(LaunchDim("12", "cdiv(n, 256) * m", 2.0), LaunchDim(12, "cdiv(n, 256) * m", 2))

    def test_a_shape_may_be_a_tuple_or_one_number(self):
        self.assertEqual(TensorSpec((2, 3)).shape, [2, 3])
        self.assertEqual(TensorSpec(5).shape, [5])


if __name__ == "__main__":
    unittest.main()
