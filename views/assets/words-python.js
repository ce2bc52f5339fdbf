// Names for completion in Python: those of the harness and Triton, and the part of torch that kernels use.
import { entries } from "./words.js";

export const python = entries(`
custom_kernel|function|(data)|The function that is timed
input_t|type|the task's|The input of one call
output_t|type|the task's|The answer of one call
generate_input|function|of the reference|Creates the input of a case
check_implementation|function|of the reference|Checks an answer
reference_fp64|function|of the reference|The answer in double precision
make_match_reference|function|utils.py|Creates a checker from a reference function
verbose_allclose|function|utils.py|Describes where two arrays differ
triton.jit|function|decorator|A kernel
triton.autotune|function|(configs, key)|Tries configurations and keeps the fastest
triton.heuristics|function|(values)|Computes settings from arguments
triton.Config|class|(meta, num_warps, num_stages)|One configuration
triton.cdiv|function|(x, y)|x / y, rounded up
triton.next_power_of_2|function|(n)|The next power of two
triton.testing.do_bench|function|(call)|Times a call
tl.program_id|function|(axis)|Index of this program in the grid
tl.num_programs|function|(axis)|Number of programs in the grid
tl.constexpr|type||A compile-time constant
tl.arange|function|(start, end)|Consecutive integers; the count must be a power of two
tl.zeros|function|(shape, dtype)|Zeros
tl.full|function|(shape, value, dtype)|A block of one value
tl.zeros_like|function|(x)|Zeros, shaped like x
tl.load|function|(pointer, mask, other)|Loads a block
tl.store|function|(pointer, value, mask)|Stores a block
tl.make_block_ptr|function|(base, shape, strides, offsets, block_shape, order)|A pointer to a block
tl.advance|function|(pointer, offsets)|Advances a block pointer
tl.make_tensor_descriptor|function|(base, shape, strides, block_shape)|A tensor descriptor, for TMA copies
tl.dot|function|(a, b, acc)|Matrix product, on tensor cores
tl.dot_scaled|function|(a, a_scale, a_format, b, b_scale, b_format)|Matrix product of scaled low-precision numbers
tl.sum|function|(x, axis)|Sum
tl.max|function|(x, axis)|Maximum
tl.min|function|(x, axis)|Minimum
tl.argmax|function|(x, axis)|Index of the maximum
tl.argmin|function|(x, axis)|Index of the minimum
tl.reduce|function|(x, axis, combine)|Reduces with a function
tl.associative_scan|function|(x, axis, combine)|Scans with a function
tl.cumsum|function|(x, axis)|Prefix sums
tl.cumprod|function|(x, axis)|Prefix products
tl.sort|function|(x, dim)|Sorts
tl.flip|function|(x, dim)|Reverses
tl.where|function|(condition, x, y)|Selects x or y
tl.maximum|function|(x, y)|Elementwise maximum
tl.minimum|function|(x, y)|Elementwise minimum
tl.clamp|function|(x, low, high)|Clamps to [low, high]
tl.abs|function|(x)|Absolute value
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
tl.cast|function|(x, dtype)|Converts to another type
tl.trans|function|(x)|Transposed
tl.permute|function|(x, dims)|Reorders the dimensions
tl.reshape|function|(x, shape)|Changes the shape
tl.broadcast_to|function|(x, shape)|Broadcast to a shape
tl.expand_dims|function|(x, axis)|Adds a dimension
tl.join|function|(x, y)|Joins two tensors in a new dimension
tl.split|function|(x)|Splits a tensor in two
tl.interleave|function|(x, y)|Interleaves two tensors
tl.gather|function|(x, index, axis)|Gathers elements by index
tl.histogram|function|(x, bins)|Counts
tl.atomic_add|function|(pointer, value, mask)|Adds
tl.atomic_max|function|(pointer, value, mask)|Keeps the larger value
tl.atomic_min|function|(pointer, value, mask)|Keeps the smaller value
tl.atomic_xchg|function|(pointer, value, mask)|Replaces, and returns the old value
tl.atomic_cas|function|(pointer, compare, value)|Replaces if equal to compare
tl.rand|function|(seed, offset)|Random numbers in [0, 1)
tl.randn|function|(seed, offset)|Normal random numbers
tl.range|function|(start, end, step, num_stages)|A pipelined loop
tl.static_range|function|(start, end, step)|An unrolled loop
tl.static_assert|function|(condition)|Checks at compile time
tl.device_print|function|(prefix, x)|Prints on the GPU
tl.multiple_of|function|(x, values)|Promises that x is a multiple of values
tl.max_contiguous|function|(x, values)|Promises how many values are contiguous
tl.debug_barrier|function|()|Waits for all threads in the program
tl.inline_asm_elementwise|function|(asm, constraints, args, dtype, is_pure, pack)|PTX for each element
tl.float16|constant|dtype|16 bits
tl.bfloat16|constant|dtype|bfloat16
tl.float32|constant|dtype|32 bits
tl.float64|constant|dtype|64 bits
tl.float8e4nv|constant|dtype|8 bits, 3 mantissa bits
tl.float8e5|constant|dtype|8 bits, 2 mantissa bits
tl.int8|constant|dtype|8 bits
tl.int32|constant|dtype|32 bits
tl.int64|constant|dtype|64 bits
num_warps|variable|of a launch|Warps per program
num_stages|variable|of a launch|Pipeline stages
BLOCK_SIZE|variable|tl.constexpr|
torch.empty|function|(size, device, dtype)|Uninitialized memory
torch.empty_like|function|(x)|Uninitialized, shaped like x
torch.zeros|function|(size, device, dtype)|Zeros
torch.zeros_like|function|(x)|Zeros, shaped like x
torch.compile|function|(function, mode)|Compiles a function
torch.matmul|function|(a, b)|Matrix product
torch.addmm|function|(c, a, b)|c + a * b
torch.softmax|function|(x, dim)|Softmax
torch.nn.functional|namespace||Layers as functions
torch.utils.cpp_extension.load_inline|function|(name, cpp_sources, cuda_sources, functions)|Compiles C++ and CUDA C++
torch.cuda.Stream|class||A stream
torch.cuda.CUDAGraph|class||A graph of launches
torch.float16|constant|dtype|16 bits
torch.bfloat16|constant|dtype|bfloat16
torch.float32|constant|dtype|32 bits
torch.inference_mode|function|()|Disables gradients
np.empty_like|function|(x)|Uninitialized, shaped like x
np.einsum|function|(subscripts, x, y)|Sums of products
np.add|function|(x, y, out)|Sum into out
np.multiply|function|(x, y, out)|Product into out
np.exp|function|(x, out)|Exponential into out
`);
