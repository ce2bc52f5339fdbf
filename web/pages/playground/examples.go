package playground

import "maps"

// defaultExample is the first example that the playground shows. It runs on every device.
const defaultExample = "torch"

// exampleNames lists the examples of the playground.
func exampleNames() []string { return []string{"torch", "triton", "cuda"} }

// fillFromExample fills the form with an example. An unknown name changes nothing.
func (f *playgroundForm) fillFromExample(name string) {
	switch name {
	case "torch":
		f.setRows(1, map[string]string{
			"kernel": torchExample, "kernel_type": "torch", "kernel_name": "softmax",
			"reference":      "import torch\n\ndef softmax(x):\n    return torch.softmax(x, dim=-1)\n",
			"reference_type": "torch", "reference_name": "softmax", "atol": "1e-6", "rtol": "1e-5",
			"args-0-name": "x", "args-0-type": "tensor", "args-0-shape": "256, 1024", "args-0-seed": "1",
		})
	case "triton":
		f.setRows(5, vectorAddFields(), map[string]string{
			"kernel": tritonExample, "kernel_type": "triton", "kernel_name": "add",
			"args-4-name": "BLOCK", "args-4-type": "int", "args-4-value": "1024", "args-4-meta": "true",
			"launch-grid-x": "cdiv(n, BLOCK)", "launch-num_warps": "4",
		})
	case "cuda":
		f.setRows(4, vectorAddFields(), map[string]string{
			"kernel": cudaExample, "kernel_type": "cuda", "kernel_name": "add",
			"launch-grid-x": "cdiv(n, 256)", "launch-block-x": "256",
		})
	}
}

func (f *playgroundForm) setRows(rows int, parts ...map[string]string) {
	f.rowCount = rows
	for _, fields := range parts {
		maps.Copy(f.fields, fields)
	}
}

// vectorAddFields returns the form fields of a vector addition, except the kernel: the reference and the arguments.
func vectorAddFields() map[string]string {
	return map[string]string{
		"reference": "def add(x, y):\n    return x + y\n", "reference_type": "torch", "reference_name": "add", "atol": "0", "rtol": "0",
		"args-0-name": "x", "args-0-type": "tensor", "args-0-shape": "1048576", "args-0-seed": "1",
		"args-1-name": "y", "args-1-type": "tensor", "args-1-shape": "1048576", "args-1-seed": "2",
		"args-2-name": "out", "args-2-type": "tensor", "args-2-role": "output", "args-2-shape": "1048576", "args-2-init": "nothing",
		"args-3-name": "n", "args-3-type": "int", "args-3-value": "1048576",
	}
}

const torchExample = `import torch

def softmax(x):
    shifted = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return shifted / shifted.sum(dim=-1, keepdim=True)
`

const tritonExample = `import triton
import triton.language as tl

@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + y, mask=inside)
`

const cudaExample = `__global__ void add(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + y[i];
}
`
