"""Tests that contracts made from arrays and tensors have exactly their bytes."""

import array
import struct
import sys
import types
import unittest
from unittest import mock

import numpy

from warpboard import LaunchConfig, LaunchDim, create_io_contract, create_zeros_spec, tensor_spec


def unpacked(spec):
    """Returns dtype, shape and raw bytes of a spec. Its data must have the same dtype and shape."""
    assert (spec.data.dtype, spec.data.shape) == (spec.dtype, spec.shape)
    return spec.dtype, spec.shape, spec.data.to_bytes()


class Arrays(unittest.TestCase):
    def test_every_numpy_dtype_of_the_api_round_trips(self):
        for dtype in ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64", "complex128"):
            for shape in ((), (3,), (2, 3), (0, 4), (2, 1, 2, 2)):
                with self.subTest(dtype=dtype, shape=shape):
                    value = numpy.arange(numpy.prod(shape, dtype=int)).astype(dtype).reshape(shape)
                    name, dims, raw = unpacked(tensor_spec(value))
                    self.assertEqual((name, dims), (dtype, list(shape)))
                    numpy.testing.assert_array_equal(numpy.frombuffer(raw, dtype).reshape(shape), value)

    def test_strides_and_foreign_byte_order_are_straightened(self):
        value = numpy.array([[1, 2], [3, 4]], dtype=">i4").T
        self.assertEqual(unpacked(tensor_spec(value)), ("int32", [2, 2], struct.pack("<4i", 1, 3, 2, 4)))

    def test_data_is_compressed_unless_told_otherwise(self):
        zeros = numpy.zeros(4096, "float32")
        self.assertEqual(tensor_spec(zeros).data.compress, "zlib")
        self.assertLess(len(tensor_spec(zeros).data.data_b64), 100)
        self.assertEqual(unpacked(tensor_spec(zeros, compress="none"))[2], bytes(16384))

    def test_buffers_need_no_numpy(self):
        self.assertEqual(unpacked(tensor_spec(array.array("f", [1, 2]))), ("float32", [2], struct.pack("<2f", 1, 2)))
        self.assertEqual(unpacked(tensor_spec(array.array("q", [-1]))), ("int64", [1], b"\xff" * 8))
        self.assertEqual(unpacked(tensor_spec(b"\x01\x02")), ("uint8", [2], b"\x01\x02"))

    def test_bytes_can_be_read_as_any_dtype_and_shape(self):
        raw = bytes(range(8))
        self.assertEqual(unpacked(tensor_spec(raw, "bfloat16")), ("bfloat16", [4], raw))
        self.assertEqual(unpacked(tensor_spec(raw, "float8_e5m2", (2, 4))), ("float8_e5m2", [2, 4], raw))
        with self.assertRaisesRegex(ValueError, r"8 bytes given, but shape \[3\] of float32 needs 12"):
            tensor_spec(raw, "float32", [3])

    def test_what_the_api_has_no_dtype_for_is_refused(self):
        for value in (numpy.zeros(2, "clongdouble"), numpy.zeros(2, "uint32"), array.array("I", [1])):
            with self.subTest(value), self.assertRaisesRegex(ValueError, "is not one of float64"):
                tensor_spec(value)
        with self.assertRaisesRegex(TypeError, "set is not a tensor"):
            tensor_spec({1, 2})


class Bfloat16:
    """A fake torch.Tensor with the methods that the client uses: of bfloat16 and on a device, which numpy cannot
    read."""

    def __init__(self, raw, steps=(), shape=(2, 1), dtype="torch.bfloat16"):
        self.raw, self.steps, self.shape, self.dtype = raw, steps, shape, dtype

    def _then(self, step, **changed):
        return Bfloat16(self.raw, (*self.steps, step), **changed)

    def __setitem__(self, *_):
        raise AssertionError("a tensor is not to be changed")

    def detach(self):
        return self._then("detach")

    def cpu(self):
        return self._then("cpu")

    def contiguous(self):
        return self._then("contiguous")

    def reshape(self, size):
        return self._then("reshape")

    def view(self, dtype):
        return self._then("view", dtype=dtype)

    def numpy(self):
        assert self.steps == ("detach", "cpu", "contiguous", "reshape", "view"), self.steps
        assert self.dtype == "torch.uint8", self.dtype
        return numpy.frombuffer(self.raw, "uint8")


class Contracts(unittest.TestCase):
    def test_torch_tensors_are_read_as_bytes_without_importing_torch(self):
        torch = types.SimpleNamespace(uint8="torch.uint8")
        with mock.patch.dict(sys.modules, torch=torch):
            contract = create_io_contract([Bfloat16(b"abcd")])
        self.assertEqual(unpacked(contract.args[0].tensor_spec), ("bfloat16", [2, 1], b"abcd"))

    def test_roles_names_and_scalars_are_as_documented(self):
        launch = LaunchConfig(grid=LaunchDim(2))
        scalars = [True, 3, 2.5, "s", numpy.float32(0.5), numpy.int64(7)]
        contract = create_io_contract(
            [numpy.ones(2, "float32"), numpy.zeros(2, "float32"), create_zeros_spec([2]), *scalars],
            output_indices=[2], inout_indices=[1], launch_config=launch,
        )
        seen = [(a.name, a.type, a.role, a.value) for a in contract.args]
        self.assertEqual(seen, [
            ("arg_0", "tensor", "input", None), ("arg_1", "tensor", "inout", None), ("arg_2", "tensor", "output", None),
            ("arg_3", "bool", "input", True), ("arg_4", "int", "input", 3), ("arg_5", "float", "input", 2.5),
            ("arg_6", "str", "input", "s"), ("arg_7", "float", "input", 0.5), ("arg_8", "int", "input", 7),
        ])
        self.assertIs(contract.launch, launch)
        contract.to_json()

    def test_an_output_carries_what_it_holds_before(self):
        contract = create_io_contract([numpy.full(2, 7, "int8")], output_indices=[0], arg_names=["sum"])
        self.assertEqual(contract.args[0].name, "sum")
        self.assertEqual(unpacked(contract.args[0].tensor_spec)[2], b"\x07\x07")

    def test_names_and_indices_must_fit(self):
        for wrong, arguments in {
            "2 names for 1 inputs": {"arg_names": ["a", "b"]},
            r"indices \[1\] are beyond the 1 inputs": {"output_indices": [1]},
            "'arg_0' is a scalar and so cannot be an inout": {"inout_indices": [0]},
        }.items():
            with self.subTest(wrong), self.assertRaisesRegex(ValueError, wrong):
                create_io_contract([1], **arguments)


if __name__ == "__main__":
    unittest.main()
