# body: {"timeout": 300, "custom_kernel": {"source_files": {"main.py": "import os\nimport torch\nfrom torch.utils.cpp_extension import load\nmade = load(\"of_files\", sources=[os.path.join(os.path.dirname(os.path.abspath(__file__)), \"twice.cpp\")])\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return made.twice(x)\n", "twice.cpp": "#include <torch/extension.h>\ntorch::Tensor twice(torch::Tensor x) { return x * 2; }\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"twice\", &twice); }\n"}, "kernel_type": "torch"}}
# want: {"correctness": true, "fault": null}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.randn(64, 64)]
