"""Compares two ways to write the same activation in PyTorch: python3 simple_pytorch.py

The site and the token come from WARPBOARD_SERVER and WARPBOARD_TOKEN.
"""

from kernel_eval_client import IOContractBuilder, KernelCode, KernelEvalClient, KernelType, create_randn_spec

REFERENCE = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.silu(x)
"""

CUSTOM = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)
"""


def main() -> None:
    contract = IOContractBuilder().add_input_tensor("x", create_randn_spec([256, 256], seed=1)).build()
    reference = KernelCode(REFERENCE, KernelType.TORCH, io=contract)
    custom = KernelCode(CUSTOM, KernelType.TORCH, io=contract)
    with KernelEvalClient() as client:
        answer = client.compare(reference, custom, num_trials=10)
    outcome = answer["kernel_exec_result"]
    print("compiled:", outcome["compiled"], "correct:", outcome["correctness"])
    if not outcome["correctness"]:
        print(outcome.get("compilation_error") or outcome.get("validation_error"))
        return
    print(f"median: {outcome['runtime_stats'].median:.4f} ms, reference: {answer['ref_runtime'].median:.4f} ms")
    print(f"speed-up: {outcome['speedup']:.2f}")


if __name__ == "__main__":
    main()
