# body: {"atol": 0.01, "rtol": 0.01}
# want: {"compiled": false, "compilation_error": "~kernel_type"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, a, b):
        return a @ b
def get_inputs():
    return [torch.randn(512, 512), torch.randn(512, 512)]
# custom_kernel: torch_cuda
import torch
from torch.utils.cpp_extension import load_inline
src = r"""
#include <torch/extension.h>
#include <cublas_v2.h>
torch::Tensor mm(torch::Tensor a, torch::Tensor b) {
    auto c = torch::empty({a.size(0), b.size(1)}, a.options());
    cublasHandle_t h; cublasCreate(&h); float one = 1.f, zero = 0.f;
    cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, b.size(1), a.size(0), a.size(1), &one, b.data_ptr<float>(), b.size(1), a.data_ptr<float>(), a.size(1), &zero, c.data_ptr<float>(), b.size(1));
    cublasDestroy(h);
    return c;
}
"""
ext = load_inline(name="mm_ext", cpp_sources="torch::Tensor mm(torch::Tensor a, torch::Tensor b);", cuda_sources=src, functions=["mm"], verbose=True, extra_cflags=["-O3"], extra_ldflags=["-lcublas"])
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return ext.mm(a, b)
