"""Evaluates three CUDA kernels: python3 cuda_kernel.py

The site and the token come from WARPBOARD_SERVER and WARPBOARD_TOKEN. The kernels need a GPU.
"""

from typing import Any, Dict

from kernel_eval_client import IOContractBuilder, KernelCode, KernelEvalClient, KernelType, create_randn_spec

ADD = """
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""

MATMUL = """
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}
"""

# One source may have several kernels: kernel_name selects the one to launch.
SEVERAL = """
__global__ void negate(const float* x, float* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = -factor * x[i];
}
__global__ void scale(const float* x, float* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
"""


def add() -> KernelCode:
    n = 1 << 20
    contract = (
        IOContractBuilder()
        .add_input_tensor("a", create_randn_spec([n], seed=1))
        .add_input_tensor("b", create_randn_spec([n], seed=2))
        .add_output_tensor("c", [n])
        .add_scalar("n", type="int", value=n)
        .set_grid("cdiv(n, 256)")
        .set_block(256)
        .build()
    )
    return KernelCode(ADD, KernelType.CUDA, io=contract)


def matmul() -> KernelCode:
    m, n, k = 256, 128, 512
    contract = (
        IOContractBuilder()
        .add_input_tensor("a", create_randn_spec([m, k], seed=1))
        .add_input_tensor("b", create_randn_spec([k, n], seed=2))
        .add_output_tensor("c", [m, n])
        .add_scalar("m", "int", m)
        .add_scalar("n", "int", n)
        .add_scalar("k", "int", k)
        .set_grid("cdiv(n, 16)", "cdiv(m, 16)")
        .set_block(16, 16)
        .build()
    )
    return KernelCode(MATMUL, KernelType.CUDA, io=contract)


def scale() -> KernelCode:
    contract = (
        IOContractBuilder()
        .add_input_tensor("x", create_randn_spec([4096], seed=1))
        .add_output_tensor("y", [4096])
        .add_scalar("factor", type="float", value=2.5)
        .add_scalar("n", type="int", value=4096)
        .set_grid(16)
        .set_block(256)
        .build()
    )
    return KernelCode(SEVERAL, KernelType.CUDA, io=contract, metadata={"kernel_name": "scale"})


def told(answer: Dict[str, Any]) -> str:
    outcome = answer["kernel_exec_result"]
    if outcome["correctness"]:
        return f"{outcome['runtime']:.4f} ms"
    return str(outcome.get("compilation_error") or outcome.get("validation_error")).splitlines()[-1]


def main() -> None:
    with KernelEvalClient() as client:
        for kernel in (add, matmul, scale):
            print(f"{kernel.__name__}: {told(client.evaluate(kernel(), num_trials=20))}")


if __name__ == "__main__":
    main()
