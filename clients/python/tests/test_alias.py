"""Scripts written for kernel_eval_client run unchanged."""

import importlib
import os
import subprocess
import sys
import unittest

import warpboard

from .server import STATS, Answer, SiteTest, result

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

SCRIPT = '''
import sys
from kernel_eval_client import (
    IOContractBuilder, KernelCode, KernelEvalClient, KernelType, LaunchConfig, LaunchDim, TensorData, TensorInit,
    TensorSpec, create_ones_spec, create_randn_spec, load_from_file, save_to_file, to_json,
)
from kernel_eval_client.models import RuntimeStats

client = KernelEvalClient(sys.argv[1])
io = (
    IOContractBuilder()
    .add_input_tensor("x", create_randn_spec([8], "float32", seed=42))
    .add_output_tensor("y", [8])
    .set_grid(1)
    .set_block(8)
    .build()
)
source = "__global__ void f(float* x, float* y) {}"
kernel = KernelCode(source_code=source, kernel_type=KernelType.CUDA, io=io, metadata={"kernel_name": "f"})
answer = client.compare(kernel, kernel, num_trials=10)
assert isinstance(answer["ref_runtime"], RuntimeStats)
print(answer["status"], answer["kernel_exec_result"]["runtime_stats"].mean, answer["ref_runtime"].percentile_99)
client.close()
'''


class OldScripts(SiteTest):
    def test_a_script_for_the_older_client_runs_without_anything_else_installed(self):
        self.site.answers["POST /compare"] = Answer(result(ref=STATS))
        # -S -E: only the standard library and this folder
        program = f"import sys; sys.path.insert(0, {ROOT!r})\n{SCRIPT}"
        command = [sys.executable, "-S", "-E", "-B", "-c", program, self.site.url]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual((ran.returncode, ran.stdout), (0, "success 0.5 0.875\n"), ran.stderr)


class Names(unittest.TestCase):
    def test_both_packages_are_the_same_classes(self):
        alias = importlib.import_module("kernel_eval_client")
        other = [name for name in warpboard.__all__ if getattr(alias, name, None) is not getattr(warpboard, name)]
        self.assertEqual(other, [])

    def test_the_older_modules_hold_their_names(self):
        for module, names in {
            "client": ["KernelEvalClient"], "builder": ["IOContractBuilder"], "models": ["KernelType", "RuntimeStats"],
            "specs": ["create_tensor_spec", "create_arange_spec", "to_json", "save_to_file", "load_from_file"],
        }.items():
            held = importlib.import_module(f"kernel_eval_client.{module}")
            self.assertEqual([name for name in names if not hasattr(held, name)], [])


if __name__ == "__main__":
    unittest.main()
