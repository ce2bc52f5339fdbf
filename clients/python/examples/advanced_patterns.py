"""Contracts of several kinds, with PyTorch kernels that any device runs: python3 advanced_patterns.py

The site and the token come from WARPBOARD_SERVER and WARPBOARD_TOKEN.
"""

import array
import base64
import os
import tempfile
from typing import Optional

from kernel_eval_client import (
    IOContract, IOContractBuilder, KernelCode, KernelEvalClient, TensorData, TensorSpec, create_arange_spec,
    create_randn_spec, load_from_file, save_to_file,
)


class Checks:
    """Evaluates kernels one after the other."""

    def __init__(self, client: KernelEvalClient) -> None:
        self.client = client

    def run(self, source: str, contract: IOContract, **metadata: str) -> str:
        """Evaluates one torch kernel. Returns "correct", or the error message."""
        kernel = KernelCode("import torch\n" + source, "torch", io=contract, metadata=metadata)
        outcome = self.client.evaluate(kernel, num_trials=3)["kernel_exec_result"]
        said: Optional[str] = outcome.get("compilation_error") or outcome.get("validation_error")
        return "correct" if outcome["correctness"] else str(said)

    def own_bytes(self) -> str:
        """Evaluates a kernel on a tensor whose elements are part of the request."""
        values = array.array("f", [1, 2, 3, 4, 5, 6])
        data = TensorData(base64.b64encode(values.tobytes()).decode(), dtype="float32", shape=[2, 3])
        contract = IOContractBuilder().add_input_tensor("x", TensorSpec([2, 3], "float32", data=data)).build()
        return self.run("def total(x):\n    assert x.sum() == 21\n    return x.sum()\n", contract, function_name="total")

    def mixed_precision(self) -> str:
        """Evaluates a kernel on tensors of several element types."""
        contract = (
            IOContractBuilder()
            .add_input_tensor("single", create_randn_spec([1024], "float32", seed=1))
            .add_input_tensor("half", create_randn_spec([1024], "bfloat16", seed=2))
            .add_input_tensor("whole", create_arange_spec([1024], "int32"))
            .build()
        )
        return self.run("def mix(single, half, whole): return single + half.float() * whole\n", contract, function_name="mix")

    def from_a_file(self) -> str:
        """Evaluates a kernel with a contract that was saved to a file and loaded again."""
        contract = IOContractBuilder().add_input_tensor("x", create_randn_spec([64, 64], seed=1)).build()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "contract.json")
            save_to_file(contract, path)
            contract = load_from_file(path, obj_type="IOContract")
        return self.run("def square(x): return x @ x\n", contract, function_name="square")

    def a_method(self) -> str:
        """Evaluates a method of a class, with a scalar argument."""
        source = "class Layer:\n    def scaled(self, x, factor): return x * factor\n"
        contract = (
            IOContractBuilder().add_input_tensor("x", create_randn_spec([256], seed=1)).add_scalar("factor", type="float", value=3.0).build()
        )
        return self.run(source, contract, class_name="Layer", method_name="scaled")

    def two_sizes(self) -> str:
        """Evaluates the same kernel on inputs of two sizes."""
        contracts = [IOContractBuilder().add_input_tensor("x", create_randn_spec([n, n], seed=1)).build() for n in (32, 64)]
        return " ".join(self.run("def relu(x): return torch.relu(x)\n", contract, function_name="relu") for contract in contracts)


def main() -> None:
    with KernelEvalClient() as client:
        checks = Checks(client)
        for pattern in (checks.own_bytes, checks.mixed_precision, checks.from_a_file, checks.a_method, checks.two_sizes):
            print(f"{pattern.__name__.replace('_', ' ')}: {pattern()}")


if __name__ == "__main__":
    main()
