# want: {"compiled": true, "correctness": true}
# custom_kernel: torch
import os, tempfile, torch
from torch.utils.cpp_extension import load
d = tempfile.mkdtemp()
open(os.path.join(d, "k.cu"), "w").write(r"""
#include <torch/extension.h>
__global__ void k(const float* x, float* y, long n) {
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) y[i] = 2.f * x[i];
}
torch::Tensor twice(torch::Tensor x) {
    auto y = torch::empty_like(x);
    k<<<1024, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
""")
open(os.path.join(d, "b.cpp"), "w").write('#include <torch/extension.h>\ntorch::Tensor twice(torch::Tensor x);\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }\n')
ext = load(name="from_files", sources=[os.path.join(d, "b.cpp"), os.path.join(d, "k.cu")], extra_cuda_cflags=["-O3"], verbose=False)
class Model(torch.nn.Module):
    def forward(self, x):
        return ext.twice(x)
