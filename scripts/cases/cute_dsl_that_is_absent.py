# want: {"compiled": false, "compilation_error": "~No module named 'cutlass'"}
# custom_kernel: torch
import torch
import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import from_dlpack
@cute.kernel
def k(x: cute.Tensor, y: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    b, _, _ = cute.arch.block_idx()
    d, _, _ = cute.arch.block_dim()
    i = b * d + t
    y[i] = x[i] * 2
@cute.jit
def run(x: cute.Tensor, y: cute.Tensor):
    k(x, y).launch(grid=(cute.size(x) // 256, 1, 1), block=(256, 1, 1))
class Model(torch.nn.Module):
    f = None
    def forward(self, x):
        y = torch.empty_like(x)
        a, b = from_dlpack(x), from_dlpack(y)
        if Model.f is None:
            Model.f = cute.compile(run, a, b)
        Model.f(a, b)
        return y
