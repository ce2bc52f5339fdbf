"""Tests that contracts and kernels load unchanged from files of save_to_file, and that errors name the file."""

import json
import os
import tempfile
import unittest

from warpboard import IOContractBuilder, KernelCode, RuntimeStats, create_full_spec, load_from_file, save_to_file, to_json


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "saved.json")
        self.contract = IOContractBuilder().add_input_tensor("µ", create_full_spec([2], 1.5)).set_grid("n // 2").build()

    def test_contracts_and_kernels_come_back(self):
        save_to_file(self.contract, self.path)
        self.assertEqual(load_from_file(self.path), self.contract)
        kernel = KernelCode("x = 'µ'\n", "triton", io=self.contract, metadata={"kernel_name": "f"})
        save_to_file(kernel, self.path, pretty=False)
        self.assertEqual(load_from_file(self.path, "KernelCode"), kernel)
        self.assertEqual(load_from_file(self.path, "dict"), kernel.to_dict())

    def test_a_wrong_file_is_named(self):
        save_to_file({"args": [{"name": "x"}]}, self.path)
        with self.assertRaisesRegex(ValueError, "saved.json: ArgSpec: .*type"):
            load_from_file(self.path)
        with self.assertRaisesRegex(ValueError, "obj_type 'Kernel' is not one of"):
            load_from_file(self.path, "Kernel")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("{")
        with self.assertRaisesRegex(ValueError, "saved.json: "):
            load_from_file(self.path)

    def test_answers_with_stats_are_written_too(self):
        answer = {"ref_runtime": RuntimeStats(1, 2, 3, 4, 5)}
        self.assertEqual(json.loads(to_json(answer))["ref_runtime"]["median"], 5)
        with self.assertRaisesRegex(TypeError, "set cannot be written"):
            to_json({1})


if __name__ == "__main__":
    unittest.main()
