// Names for Python: the harness, Triton, and what kernels use of torch.
import { entries } from "./words.js";

export const python = entries(`
custom_kernel|function|(data)|The function that is timed
input_t|type|the task's|What one call is given
output_t|type|the task's|What one call returns
generate_input|function|of the reference|Makes the input of a case
check_implementation|function|of the reference|Says whether an answer is right
reference_fp64|function|of the reference|The answer in double precision
make_match_reference|function|utils.py|Makes a checker of a function with the right answer
verbose_allclose|function|utils.py|Lines that say where two arrays differ
triton.jit|function|decorator|A kernel
triton.autotune|function|(configs, key)|Tries settings, and keeps the fastest
triton.heuristics|function|(values)|Settings from arguments
triton.Config|class|(meta, num_warps, num_stages)|One setting
triton.cdiv|function|(x, y)|x / y, rounded up
triton.next_power_of_2|function|(n)|The next power of two
triton.testing.do_bench|function|(call)|Times a call
tl.program_id|function|(axis)|The program in its grid
tl.num_programs|function|(axis)|Programs in the grid
tl.constexpr|type||Known when it is compiled
tl.arange|function|(start, end)|Numbers in a row; their count is a power of two
tl.zeros|function|(shape, dtype)|Zeros
tl.full|function|(shape, value, dtype)|One value everywhere
tl.zeros_like|function|(x)|Zeros as x
tl.load|function|(pointer, mask, other)|Loads a block
tl.store|function|(pointer, value, mask)|Stores a block
tl.make_block_ptr|function|(base, shape, strides, offsets, block_shape, order)|A pointer to a block
tl.advance|function|(pointer, offsets)|Moves such a pointer
tl.make_tensor_descriptor|function|(base, shape, strides, block_shape)|A tensor for the copy engine
tl.dot|function|(a, b, acc)|A product of matrices, on tensor cores
tl.dot_scaled|function|(a, a_scale, a_format, b, b_scale, b_format)|The same of scaled numbers
tl.sum|function|(x, axis)|Sum
tl.max|function|(x, axis)|Largest
tl.min|function|(x, axis)|Least
tl.argmax|function|(x, axis)|Where the largest is
tl.argmin|function|(x, axis)|Where the least is
tl.reduce|function|(x, axis, combine)|Reduces by a function
tl.associative_scan|function|(x, axis, combine)|Scans by a function
tl.cumsum|function|(x, axis)|Prefix sums
tl.cumprod|function|(x, axis)|Prefix products
tl.sort|function|(x, dim)|Sorts
tl.flip|function|(x, dim)|Reverses
tl.where|function|(condition, x, y)|x or y
tl.maximum|function|(x, y)|The greater of each
tl.minimum|function|(x, y)|The lesser of each
tl.clamp|function|(x, low, high)|Between both
tl.abs|function|(x)|Without sign
tl.exp|function|(x)|Exponential
tl.exp2|function|(x)|Power of two
tl.log|function|(x)|Logarithm
tl.log2|function|(x)|Logarithm to base 2
tl.sqrt|function|(x)|Square root
tl.rsqrt|function|(x)|1 / sqrt(x)
tl.sigmoid|function|(x)|1 / (1 + exp(-x))
tl.softmax|function|(x)|Softmax
tl.fma|function|(x, y, z)|x * y + z
tl.cdiv|function|(x, y)|x / y, rounded up
tl.cast|function|(x, dtype)|To another type
tl.trans|function|(x)|Transposed
tl.permute|function|(x, dims)|Dimensions in another order
tl.reshape|function|(x, shape)|Another shape
tl.broadcast_to|function|(x, shape)|Broadcast to a shape
tl.expand_dims|function|(x, axis)|One dimension more
tl.join|function|(x, y)|Two tensors in a new dimension
tl.split|function|(x)|A tensor in two
tl.interleave|function|(x, y)|In turns
tl.gather|function|(x, index, axis)|Elements by index
tl.histogram|function|(x, bins)|Counts
tl.atomic_add|function|(pointer, value, mask)|Adds
tl.atomic_max|function|(pointer, value, mask)|Keeps the greater
tl.atomic_min|function|(pointer, value, mask)|Keeps the lesser
tl.atomic_xchg|function|(pointer, value, mask)|Puts, and returns what was there
tl.atomic_cas|function|(pointer, compare, value)|Puts if it is as compared
tl.rand|function|(seed, offset)|Random numbers in [0, 1)
tl.randn|function|(seed, offset)|Normal random numbers
tl.range|function|(start, end, step, num_stages)|A loop that is pipelined
tl.static_range|function|(start, end, step)|A loop that is unrolled
tl.static_assert|function|(condition)|Checked when it is compiled
tl.device_print|function|(prefix, x)|Prints on the GPU
tl.multiple_of|function|(x, values)|Says what x is a multiple of
tl.max_contiguous|function|(x, values)|Says how many follow each other
tl.debug_barrier|function|()|Waits for all threads of the program
tl.inline_asm_elementwise|function|(asm, constraints, args, dtype, is_pure, pack)|PTX for each element
tl.float16|constant|dtype|16 bits
tl.bfloat16|constant|dtype|bfloat16
tl.float32|constant|dtype|32 bits
tl.float64|constant|dtype|64 bits
tl.float8e4nv|constant|dtype|8 bits, 3 of them mantissa
tl.float8e5|constant|dtype|8 bits, 2 of them mantissa
tl.int8|constant|dtype|8 bits
tl.int32|constant|dtype|32 bits
tl.int64|constant|dtype|64 bits
num_warps|variable|of a launch|Warps of a program
num_stages|variable|of a launch|Stages of a pipeline
BLOCK_SIZE|variable|tl.constexpr|
torch.empty|function|(size, device, dtype)|Memory without values
torch.empty_like|function|(x)|Memory as x
torch.zeros|function|(size, device, dtype)|Zeros
torch.zeros_like|function|(x)|Zeros as x
torch.compile|function|(function, mode)|Compiles a function
torch.matmul|function|(a, b)|A product of matrices
torch.addmm|function|(c, a, b)|c + a * b
torch.softmax|function|(x, dim)|Softmax
torch.nn.functional|namespace||Functions of layers
torch.utils.cpp_extension.load_inline|function|(name, cpp_sources, cuda_sources, functions)|Compiles C++ and CUDA C++
torch.cuda.Stream|class||A stream
torch.cuda.CUDAGraph|class||A graph of launches
torch.float16|constant|dtype|16 bits
torch.bfloat16|constant|dtype|bfloat16
torch.float32|constant|dtype|32 bits
torch.inference_mode|function|()|Without gradients
np.empty_like|function|(x)|Memory as x
np.einsum|function|(subscripts, x, y)|Sums of products
np.add|function|(x, y, out)|Sum into out
np.multiply|function|(x, y, out)|Product into out
np.exp|function|(x, out)|Exponential into out
`);
