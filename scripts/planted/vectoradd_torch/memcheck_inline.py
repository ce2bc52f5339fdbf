from task import input_t, output_t
from torch.utils.cpp_extension import load_inline

# The store to out has no check of i, and so writes behind its end. The reported line is in the generated cuda.cu, so no
# line here is marked as planted.
SOURCE = """
#include <cuda_fp16.h>
#include <torch/extension.h>

__global__ void add(const __half* a, const __half* b, __half* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half sum = i < size ? __hadd(a[i], b[i]) : __float2half(0.0f);
    out[i] = sum;
}

void run(torch::Tensor a, torch::Tensor b, torch::Tensor out) {
    const int size = out.numel();
    add<<<(size + 255) / 256, 256>>>((const __half*)a.data_ptr(), (const __half*)b.data_ptr(), (__half*)out.data_ptr(), size);
}
"""

module = load_inline(name="planted", cpp_sources="void run(torch::Tensor a, torch::Tensor b, torch::Tensor out);", cuda_sources=SOURCE,
                     functions=["run"], extra_cuda_cflags=["-lineinfo"])


def custom_kernel(data: input_t) -> output_t:
    a, b, out = data
    module.run(a, b, out)
    return out
