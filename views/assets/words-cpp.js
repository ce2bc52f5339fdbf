// Names for completion in C++ and CUDA C++: those of the harness and of CUDA.
import { entries } from "./words.js";

export const harness = entries(`
custom_kernel|function|output_t(input_t)|The function that is timed
input_t|type|the task's|The input of one call
output_t|type|the task's|The answer of one call
generate_input|function|of the reference|Creates the input of a case
check_implementation|function|of the reference|Checks an answer
reference_fp64|function|of the reference|The answer in double precision
TestReporter|class|utils.h|Receives the verdict: pass() or fail() << why
warpboard::Random|class|utils.h|Numbers that a submission cannot predict: Random(seed, stream)
ArgumentNames|variable|task.h|The arguments of generate_input, in its order
`);

export const cuda = entries(`
DeviceBuffer|class|utils.h|GPU memory of size() elements at data()
CUDA_CHECK|function|utils.h|Ends the program if a call of the CUDA runtime failed
__global__|keyword||A kernel
__device__|keyword||A function or variable on the GPU
__host__|keyword||A function on the CPU
__shared__|keyword||Memory that a block shares
__constant__|keyword||Constant memory
__managed__|keyword||Memory that CPU and GPU share
__restrict__|keyword||No other pointer refers to this memory
__launch_bounds__|keyword|(threads, blocks)|Limits registers so that this many blocks fit on an SM
__forceinline__|keyword||Always inlined
__noinline__|keyword||Never inlined
__grid_constant__|keyword||A read-only parameter
__cluster_dims__|keyword|(x, y, z)|Blocks in a cluster
threadIdx|variable|uint3|The thread in its block
blockIdx|variable|uint3|The block in its grid
blockDim|variable|dim3|Threads in a block
gridDim|variable|dim3|Blocks in the grid
warpSize|constant|int|32
dim3|class||Sizes in three dimensions
__syncthreads|function|()|Waits for all threads in the block
__syncthreads_count|function|(predicate)|Barrier that counts the threads where the predicate is true
__syncthreads_and|function|(predicate)|Barrier: is the predicate true for all threads?
__syncthreads_or|function|(predicate)|Barrier: is the predicate true for any thread?
__syncwarp|function|(mask)|Waits for all lanes of the warp
__threadfence|function|()|Orders writes for the whole GPU
__threadfence_block|function|()|Orders writes for the block
__threadfence_system|function|()|Orders writes for CPU and GPUs
__shfl_sync|function|(mask, value, lane)|Another lane's value
__shfl_up_sync|function|(mask, value, delta)|The value of a lane below
__shfl_down_sync|function|(mask, value, delta)|The value of a lane above
__shfl_xor_sync|function|(mask, value, lanes)|The value from lane own ^ lanes
__ballot_sync|function|(mask, predicate)|A bit for each lane
__any_sync|function|(mask, predicate)|Is the predicate true in any lane?
__all_sync|function|(mask, predicate)|Is the predicate true in all lanes?
__match_any_sync|function|(mask, value)|The lanes with the same value
__match_all_sync|function|(mask, value, &same)|Do all lanes have the same value?
__reduce_add_sync|function|(mask, value)|Integer sum over the lanes
__reduce_min_sync|function|(mask, value)|Integer minimum over the lanes
__reduce_max_sync|function|(mask, value)|Integer maximum over the lanes
__reduce_and_sync|function|(mask, value)|Bitwise AND over the lanes
__reduce_or_sync|function|(mask, value)|Bitwise OR over the lanes
__reduce_xor_sync|function|(mask, value)|Bitwise XOR over the lanes
__activemask|function|()|The lanes that are active now
__ldg|function|(pointer)|Loads through the read-only cache
__ldcs|function|(pointer)|Streaming load: data that is read once
__ldcg|function|(pointer)|Loads through L2 only
__ldca|function|(pointer)|Loads and caches at all levels
__stcs|function|(pointer, value)|Streaming store: data that is written once
__stcg|function|(pointer, value)|Stores in L2 only
__stwt|function|(pointer, value)|Writes through to memory
atomicAdd|function|(address, value)|Adds, and returns the old value
atomicSub|function|(address, value)|Subtracts, and returns the old value
atomicExch|function|(address, value)|Replaces, and returns the old value
atomicMin|function|(address, value)|Keeps the smaller value
atomicMax|function|(address, value)|Keeps the larger value
atomicInc|function|(address, limit)|Counts up to a limit
atomicDec|function|(address, limit)|Counts down from a limit
atomicCAS|function|(address, compare, value)|Replaces if equal to compare
atomicAnd|function|(address, value)|Bitwise AND
atomicOr|function|(address, value)|Bitwise OR
atomicXor|function|(address, value)|Bitwise XOR
__fmaf_rn|function|(x, y, z)|x * y + z, rounded once
__fma_rn|function|(x, y, z)|x * y + z in double precision, rounded once
__fmul_rn|function|(x, y)|A product that is never fused
__fadd_rn|function|(x, y)|A sum that is never fused
__fdividef|function|(x, y)|A fast quotient
__expf|function|(x)|A fast exponential
__exp10f|function|(x)|A fast power of ten
__logf|function|(x)|A fast logarithm
__log2f|function|(x)|A fast logarithm to base 2
__powf|function|(x, y)|A fast power
__sinf|function|(x)|A fast sine
__cosf|function|(x)|A fast cosine
__tanf|function|(x)|A fast tangent
__saturatef|function|(x)|Clamps to [0, 1]
__frcp_rn|function|(x)|1 / x
__frsqrt_rn|function|(x)|1 / sqrt(x)
rsqrtf|function|(x)|1 / sqrt(x)
__float2int_rn|function|(x)|Rounds to the nearest integer
__float2int_rz|function|(x)|Rounds toward zero
__int_as_float|function|(bits)|The float with these bits
__float_as_int|function|(x)|The bits of a float
__clz|function|(x)|Leading zeros
__popc|function|(x)|Number of set bits
__ffs|function|(x)|Position of the lowest set bit, from 1
__brev|function|(x)|Bits in reverse order
__byte_perm|function|(x, y, selector)|Selects four bytes from two words
__funnelshift_l|function|(low, high, shift)|Shifts two words left
__funnelshift_r|function|(low, high, shift)|Shifts two words right
__umulhi|function|(x, y)|The upper 32 bits of a product
__mul24|function|(x, y)|A 24-bit product
__dp4a|function|(a, b, c)|Dot product of four bytes, plus c
__nanosleep|function|(ns)|Suspends the thread
__trap|function|()|Aborts the kernel with an error
clock64|function|()|The clock of the multiprocessor
half|type|cuda_fp16.h|16 bits
half2|type|cuda_fp16.h|Two halves
__half|type|cuda_fp16.h|16 bits
__half2|type|cuda_fp16.h|Two halves
__float2half|function|(x)|To half precision
__half2float|function|(x)|From half precision
__floats2half2_rn|function|(x, y)|Two floats as two halves
__half22float2|function|(x)|Two halves as two floats
__hadd|function|(x, y)|Sum of halves
__hmul|function|(x, y)|Product of halves
__hfma|function|(x, y, z)|x * y + z of halves
__hfma2|function|(x, y, z)|x * y + z of pairs of halves
__hadd2|function|(x, y)|Sum of pairs of halves
__hmul2|function|(x, y)|Product of pairs of halves
__nv_bfloat16|type|cuda_bf16.h|bfloat16
__nv_bfloat162|type|cuda_bf16.h|Two bfloat16
__float2bfloat16|function|(x)|To bfloat16
__bfloat162float|function|(x)|From bfloat16
__nv_fp8_e4m3|type|cuda_fp8.h|8 bits, 3 mantissa bits
__nv_fp8_e5m2|type|cuda_fp8.h|8 bits, 2 mantissa bits
float2|type||Two floats
float4|type||Four floats, 16 bytes
double2|type||Two doubles
int2|type||Two integers
int4|type||Four integers, 16 bytes
uint4|type||Four unsigned integers
make_float2|function|(x, y)|Creates a float2
make_float4|function|(x, y, z, w)|Creates a float4
make_int4|function|(x, y, z, w)|Creates an int4
nvcuda::wmma::fragment|class|mma.h|A tile of a matrix in a warp's registers
nvcuda::wmma::load_matrix_sync|function|(fragment, pointer, stride)|Loads a tile
nvcuda::wmma::store_matrix_sync|function|(pointer, fragment, stride, layout)|Stores a tile
nvcuda::wmma::mma_sync|function|(d, a, b, c)|d = a * b + c on tensor cores
nvcuda::wmma::fill_fragment|function|(fragment, value)|Fills a tile
cooperative_groups::this_thread_block|function|()|The block as a group
cooperative_groups::this_grid|function|()|The grid as a group
cooperative_groups::this_cluster|function|()|The cluster as a group
cooperative_groups::tiled_partition|function|(group)|A part of a warp as a group
cooperative_groups::reduce|function|(group, value, op)|Reduces over a group
__cvta_generic_to_shared|function|(pointer)|The address in shared memory, for PTX
__pipeline_memcpy_async|function|(to, from, bytes)|Copies to shared memory without waiting
__pipeline_commit|function|()|Closes a batch of copies
__pipeline_wait_prior|function|(batches)|Waits until at most this many batches are pending
cuda::barrier|class|cuda/barrier|A barrier of threads
cuda::memcpy_async|function|(group, to, from, bytes, barrier)|Copies without waiting
cudaMalloc|function|(&pointer, bytes)|Allocates GPU memory
cudaFree|function|(pointer)|Frees GPU memory
cudaMemcpyAsync|function|(to, from, bytes, kind, stream)|Copies
cudaMemsetAsync|function|(pointer, byte, bytes, stream)|Fills
cudaGetLastError|function|()|The last error, which it resets
cudaFuncSetAttribute|function|(kernel, attribute, value)|Sets an attribute, such as more shared memory
cudaFuncAttributeMaxDynamicSharedMemorySize|constant||Dynamic shared memory beyond 48 KiB
cudaLaunchCooperativeKernel|function|(kernel, grid, block, args, shared, stream)|Launches a grid that can synchronize
cudaOccupancyMaxActiveBlocksPerMultiprocessor|function|(&blocks, kernel, threads, shared)|How many blocks fit on an SM
`);

export const cpp = entries(`
std::vector|class|vector|A dynamic array
std::array|class|array|A fixed-size array
std::span|class|span|A view of contiguous elements
std::move|function|utility|Moves a value
std::min|function|algorithm|The smaller value
std::max|function|algorithm|The larger value
std::fill|function|algorithm|Fills a range
std::copy|function|algorithm|Copies a range
std::transform|function|algorithm|Maps a range
std::accumulate|function|numeric|Sums a range
std::inclusive_scan|function|numeric|Prefix sums
std::exclusive_scan|function|numeric|Prefix sums without the element
std::size_t|type|cstddef|Sizes
std::int32_t|type|cstdint|32 bits
std::uint32_t|type|cstdint|32 bits, unsigned
std::uint64_t|type|cstdint|64 bits, unsigned
std::sqrt|function|cmath|Square root
std::exp|function|cmath|Exponential
std::fma|function|cmath|x * y + z, rounded once
std::numeric_limits|class|limits|Limits of a type
std::thread|class|thread|A thread
std::memcpy|function|cstring|Copies bytes
`);
