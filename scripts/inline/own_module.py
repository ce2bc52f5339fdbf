"""no functions: a PYBIND11_MODULE of its own"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <torch/extension.h>

__global__ void clip(const float* x, const float* y, float* out, float least, float most, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fminf(fmaxf(x[i] * y[i], least), most);
}

struct Clip {
    double least, most;

    torch::Tensor run(torch::Tensor x, torch::Tensor y) const {
        auto out = torch::empty_like(x);
        const int n = x.numel();
        clip<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), least, most, n);
        return out;
    }
};

torch::Tensor run(const torch::Tensor& x, const torch::Tensor& y, double least) { return Clip{least, 1.5}.run(x, y); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.doc() = "clips products";
    m.def("run", &run, "x * y, clipped", py::arg("x"), py::arg("y"), py::arg("least") = -0.75);
    py::class_<Clip>(m, "Clip").def(py::init<double, double>()).def("run", &Clip::run).def_readonly("most", &Clip::most);
}
"""

module = load_inline(name="own_module", cpp_sources="", cuda_sources=CUDA)


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.clip = module.Clip(-0.5, 2.0)

    def forward(self, x, y):
        return [module.run(x, y=y), self.clip.run(x, y) / self.clip.most]
