"""Evaluates a Triton kernel, then compares it with PyTorch: python3 triton_kernel.py

The site and the token come from WARPBOARD_SERVER and WARPBOARD_TOKEN. The kernel needs a GPU. The imports are those of the
evaluation server's manual; warpboard has the same names.
"""

from typing import Any, Dict

from io_contract.spec_builders import IOContractBuilder, create_randn_spec, to_json
from kernel_eval_client import KernelEvalClient
from shared.models import KernelCode, LaunchConfig, LaunchDim

SOURCE = """
import triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    within = places < n
    tl.store(out + places, tl.load(x + places, within) + tl.load(y + places, within), within)
"""

N, BLOCK = 1 << 16, 1024


def told(answer: Dict[str, Any]) -> str:
    outcome = answer["kernel_exec_result"]
    if outcome["correctness"]:
        return f"{outcome['runtime']:.4f} ms"
    return str(outcome.get("compilation_error") or outcome.get("validation_error")).splitlines()[-1]


def main() -> None:
    contract = (
        IOContractBuilder()
        .add_input_tensor("x", create_randn_spec([N], seed=1))
        .add_input_tensor("y", create_randn_spec([N], seed=2))
        .add_output_tensor("out", shape=[N], dtype="float32")
        .add_scalar("n", "int", N)
        .add_meta_param("BLOCK", value=BLOCK)
        .set_launch_config(LaunchConfig(grid=LaunchDim(x=N // BLOCK), num_warps=4))
        .build()
    )
    kernel = KernelCode(source_code=SOURCE, kernel_type="triton", io=contract)
    reference = KernelCode("def add(x, y): return x + y\n", "torch", io=contract, metadata={"function_name": "add"})
    print(f"the request has {len(to_json({'kernel': kernel.dict(), 'num_trials': 20}))} characters")
    with KernelEvalClient() as client:
        print("evaluated:", told(client.evaluate(kernel, num_trials=20)))
        answer = client.compare(reference, kernel, num_trials=20)
    print("compared:", told(answer))
    if answer["kernel_exec_result"]["correctness"]:
        print(f"speed-up: {answer['kernel_exec_result']['speedup']:.2f}")


if __name__ == "__main__":
    main()
