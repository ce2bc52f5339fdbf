"""Scripts written for kernel_eval_client run unchanged."""

import importlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

import warpboard
from warpboard import IOContractBuilder

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


# Builds a request as the evaluation server's manual does.
MANUAL = '''
from io_contract.spec_builders import IOContractBuilder, create_randn_spec, load_from_file, save_to_file, to_json
from io_contract import create_zeros_spec
from shared.models import KernelCode, LaunchConfig, LaunchDim, RuntimeStats

contract = (
    IOContractBuilder()
    .add_input_tensor("x", create_randn_spec([8], dtype="float32", seed=42))
    .add_output_tensor("y", shape=[8], dtype="float32")
    .add_scalar(name="n", type="int", value=8)
    .add_meta_param("BLOCK", value=8)
    .set_launch_config(LaunchConfig(grid=LaunchDim(x=1), num_warps=4))
    .build()
)
code = KernelCode(source_code="...", kernel_type="triton", io=contract)
print(to_json({"kernel": code.dict(), "num_trials": 100}, pretty=True))
'''


class OldScripts(SiteTest):
    def test_a_script_for_the_older_client_runs_without_anything_else_installed(self):
        self.site.answers["POST /compare"] = Answer(result(ref=STATS))
        # With -S -E, only the standard library and this folder can be imported.
        program = f"import sys; sys.path.insert(0, {ROOT!r})\n{SCRIPT}"
        command = [sys.executable, "-S", "-E", "-B", "-c", program, self.site.url]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual((ran.returncode, ran.stdout), (0, "success 0.5 0.875\n"), ran.stderr)


class TheManual(unittest.TestCase):
    def run_alone(self, program: str, *folders: str) -> str:
        """Runs a program with only the standard library and these folders. Returns its output."""
        program = f"import sys; sys.path[:0] = {list(folders)!r}\n{program}"
        ran = subprocess.run([sys.executable, "-S", "-E", "-B", "-c", program], capture_output=True, text=True, timeout=60)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def test_its_way_to_make_a_request_works(self):
        made = json.loads(self.run_alone(MANUAL, ROOT))
        kernel = made["kernel"]
        self.assertEqual((made["num_trials"], kernel["kernel_type"], kernel["io"]["launch"]["num_warps"]), (100, "triton", 4))
        self.assertEqual([(arg["name"], arg.get("value")) for arg in kernel["io"]["args"]], [("x", None), ("y", None), ("n", 8), ("BLOCK", 8)])

    def test_a_package_of_ones_own_that_is_called_shared_comes_first(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "shared"))
            for name, text in (("__init__.py", ""), ("models.py", "mine = True\n")):
                with open(os.path.join(folder, "shared", name), "w", encoding="utf-8") as file:
                    file.write(text)
            self.assertEqual(self.run_alone("import shared.models; print(shared.models.mine)", ROOT, folder), "True\n")

    def test_scalars_take_the_names_of_both_clients(self):
        for scalar in (
            IOContractBuilder().add_scalar("n", "int", 3), IOContractBuilder().add_scalar("n", type="int", value=3),
            IOContractBuilder().add_scalar("n", scalar_type="int", value=3),
        ):
            self.assertEqual(scalar.build().args[0].dict(), {"name": "n", "type": "int", "value": 3, "role": "input", "is_meta": False})
        with self.assertRaisesRegex(ValueError, "Argument 'n': type: '' is not one of"):
            IOContractBuilder().add_scalar("n", value=3)


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
