"""Tests that the spec helpers and the builder give the same JSON as the older client."""

import unittest

from warpboard import (
    IOContractBuilder, LaunchConfig, LaunchDim, create_arange_spec, create_full_spec, create_ones_spec, create_randn_spec,
    create_tensor_spec, create_uniform_spec, create_zeros_spec,
)


class Specs(unittest.TestCase):
    def test_each_helper_sends_its_kind_with_its_parameters(self):
        cases = [
            (create_randn_spec([2], seed=1), {"kind": "randn", "seed": 1, "mean": 0.0, "std": 1.0}),
            (create_randn_spec([2], "float16", 1, 5, 2), {"kind": "randn", "seed": 1, "mean": 5.0, "std": 2.0}),
            (create_uniform_spec([2]), {"kind": "uniform", "low": 0.0, "high": 1.0}),
            (create_uniform_spec([2], "float32", 3, -1, 0), {"kind": "uniform", "seed": 3, "low": -1.0, "high": 0.0}),
            (create_zeros_spec([2]), {"kind": "zeros"}),
            (create_ones_spec([2]), {"kind": "ones"}),
            (create_full_spec([2], 3.5), {"kind": "full", "fill_value": 3.5}),
            (create_arange_spec([2], step=0.5), {"kind": "arange", "start": 0.0, "step": 0.5}),
            (create_tensor_spec([2], "int8", "full", seed=0, fill_value=0), {"kind": "full", "seed": 0, "fill_value": 0.0}),
        ]
        for spec, init in cases:
            with self.subTest(init):
                self.assertEqual(spec.to_dict()["init"], init)
                self.assertEqual(spec.shape, [2])

    def test_without_a_kind_nothing_fills_the_tensor(self):
        self.assertEqual(create_tensor_spec([8], "int8").to_dict(), {"shape": [8], "dtype": "int8"})

    def test_the_dtype_comes_where_the_older_client_had_it(self):
        self.assertEqual(create_full_spec([1], 2.0, "float64").dtype, "float64")
        self.assertEqual(create_arange_spec([1], "int64").dtype, "int64")


class Builder(unittest.TestCase):
    def test_arguments_keep_their_order_and_roles(self):
        contract = (
            IOContractBuilder()
            .add_input_tensor("x", create_ones_spec([4]))
            .add_inout_tensor("y", create_zeros_spec([4]))
            .add_output_tensor("z", [4], "float16")
            .add_scalar("alpha", "float", 2.5)
            .add_meta_param("BLOCK", 64)
            .build()
        )
        seen = [(a.name, a.type, a.role, a.is_meta, a.value) for a in contract.args]
        self.assertEqual(seen, [
            ("x", "tensor", "input", False, None), ("y", "tensor", "inout", False, None),
            ("z", "tensor", "output", False, None), ("alpha", "float", "input", False, 2.5), ("BLOCK", "int", "input", True, 64),
        ])
        self.assertEqual(contract.args[2].tensor_spec.to_dict(), {"shape": [4], "dtype": "float16"})
        self.assertIsNone(contract.launch)

    def test_every_launch_size_can_be_set(self):
        builder = IOContractBuilder().set_grid("cdiv(n, 256)", 2).set_block(16, 16)
        contract = builder.set_num_warps(8).set_num_stages(3).set_shared_mem(4096).build()
        self.assertEqual(contract.to_dict()["launch"], {
            "grid": {"x": "cdiv(n, 256)", "y": 2, "z": 1}, "block": {"x": 16, "y": 16, "z": 1},
            "num_warps": 8, "num_stages": 3, "shared_mem": 4096,
        })

    def test_a_given_launch_config_is_completed_and_stays_as_it_was(self):
        given = LaunchConfig(grid=LaunchDim(3))
        contract = IOContractBuilder().set_launch_config(given).set_block(32).build()
        self.assertEqual((contract.launch.grid.x, contract.launch.block.x), (3, 32))
        self.assertIsNone(given.block)

    def test_a_built_contract_does_not_change_with_its_builder(self):
        builder = IOContractBuilder().add_scalar("n", "int", 1).set_grid(1)
        built = builder.build()
        builder.add_scalar("m", "int", 2).set_grid(9)
        self.assertEqual((len(built.args), built.launch.grid.x), (1, 1))


if __name__ == "__main__":
    unittest.main()
