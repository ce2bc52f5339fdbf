// Names for C++ and CUDA C++: the harness, and what CUDA adds.
import { entries } from "./words.js";

export const harness = entries(`
custom_kernel|function|output_t(input_t)|The function that is timed
input_t|type|the task's|What one call is given
output_t|type|the task's|What one call returns
generate_input|function|of the reference|Makes the input of a case
check_implementation|function|of the reference|Says whether an answer is right
reference_fp64|function|of the reference|The answer in double precision
TestReporter|class|utils.h|Takes the verdict: pass() or fail() << why
warpboard::Random|class|utils.h|Numbers that a submission cannot foresee: Random(seed, stream)
ArgumentNames|variable|task.h|The arguments of generate_input, in its order
`);

export const cuda = entries(`
DeviceBuffer|class|utils.h|GPU memory of size() elements at data()
CUDA_CHECK|function|utils.h|Ends the program if a call of the CUDA runtime failed
__global__|keyword||A kernel
__device__|keyword||A function or variable of the GPU
__host__|keyword||A function of the CPU
__shared__|keyword||Memory of a block
__constant__|keyword||Constant memory
__managed__|keyword||Memory of both
__restrict__|keyword||No other pointer leads here
__launch_bounds__|keyword|(threads, blocks)|Limits registers so that so many blocks fit
__forceinline__|keyword||Always inlined
__noinline__|keyword||Never inlined
__grid_constant__|keyword||A parameter that no thread changes
__cluster_dims__|keyword|(x, y, z)|Blocks in a cluster
threadIdx|variable|uint3|The thread in its block
blockIdx|variable|uint3|The block in its grid
blockDim|variable|dim3|Threads in a block
gridDim|variable|dim3|Blocks in the grid
warpSize|constant|int|32
dim3|class||Sizes in three dimensions
__syncthreads|function|()|Waits for all threads of the block
__syncthreads_count|function|(predicate)|Waits, and counts the threads for which it holds
__syncthreads_and|function|(predicate)|Waits, and asks whether it holds for all
__syncthreads_or|function|(predicate)|Waits, and asks whether it holds for one
__syncwarp|function|(mask)|Waits for the lanes of a warp
__threadfence|function|()|Orders writes for the whole GPU
__threadfence_block|function|()|Orders writes for the block
__threadfence_system|function|()|Orders writes for CPU and GPUs
__shfl_sync|function|(mask, value, lane)|Another lane's value
__shfl_up_sync|function|(mask, value, delta)|The value of a lane below
__shfl_down_sync|function|(mask, value, delta)|The value of a lane above
__shfl_xor_sync|function|(mask, value, lanes)|The value of the lane at an exclusive or
__ballot_sync|function|(mask, predicate)|A bit for each lane
__any_sync|function|(mask, predicate)|Whether it holds in one lane
__all_sync|function|(mask, predicate)|Whether it holds in all lanes
__match_any_sync|function|(mask, value)|The lanes with the same value
__match_all_sync|function|(mask, value, &same)|Whether all lanes have one value
__reduce_add_sync|function|(mask, value)|Sum over the lanes, of integers
__reduce_min_sync|function|(mask, value)|Least over the lanes, of integers
__reduce_max_sync|function|(mask, value)|Largest over the lanes, of integers
__reduce_and_sync|function|(mask, value)|Bits that all lanes have
__reduce_or_sync|function|(mask, value)|Bits that a lane has
__reduce_xor_sync|function|(mask, value)|Exclusive or over the lanes
__activemask|function|()|The lanes that are active now
__ldg|function|(pointer)|Loads through the read-only cache
__ldcs|function|(pointer)|Loads what is read once
__ldcg|function|(pointer)|Loads past the L1 cache
__ldca|function|(pointer)|Loads into all caches
__stcs|function|(pointer, value)|Stores what is written once
__stcg|function|(pointer, value)|Stores past the L1 cache
__stwt|function|(pointer, value)|Stores through to memory
atomicAdd|function|(address, value)|Adds, and returns what was there
atomicSub|function|(address, value)|Subtracts, and returns what was there
atomicExch|function|(address, value)|Puts, and returns what was there
atomicMin|function|(address, value)|Keeps the lesser
atomicMax|function|(address, value)|Keeps the greater
atomicInc|function|(address, limit)|Counts up to a limit
atomicDec|function|(address, limit)|Counts down from a limit
atomicCAS|function|(address, compare, value)|Puts if it is as compared
atomicAnd|function|(address, value)|And of bits
atomicOr|function|(address, value)|Or of bits
atomicXor|function|(address, value)|Exclusive or of bits
__fmaf_rn|function|(x, y, z)|x * y + z, rounded once
__fma_rn|function|(x, y, z)|x * y + z of doubles, rounded once
__fmul_rn|function|(x, y)|A product that is not fused
__fadd_rn|function|(x, y)|A sum that is not fused
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
__float2int_rn|function|(x)|To the nearest integer
__float2int_rz|function|(x)|Towards zero
__int_as_float|function|(bits)|The float of these bits
__float_as_int|function|(x)|The bits of a float
__clz|function|(x)|Leading zeros
__popc|function|(x)|Bits that are set
__ffs|function|(x)|The lowest bit that is set, from 1
__brev|function|(x)|Bits in reverse order
__byte_perm|function|(x, y, selector)|Four bytes of two words
__funnelshift_l|function|(low, high, shift)|Shifts two words left
__funnelshift_r|function|(low, high, shift)|Shifts two words right
__umulhi|function|(x, y)|The high word of a product
__mul24|function|(x, y)|A product of 24 bits
__dp4a|function|(a, b, c)|Four products of bytes, added to c
__nanosleep|function|(ns)|Rests the thread
__trap|function|()|Ends the kernel with an error
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
__nv_fp8_e4m3|type|cuda_fp8.h|8 bits, 3 of them mantissa
__nv_fp8_e5m2|type|cuda_fp8.h|8 bits, 2 of them mantissa
float2|type||Two floats
float4|type||Four floats, 16 bytes
double2|type||Two doubles
int2|type||Two integers
int4|type||Four integers, 16 bytes
uint4|type||Four unsigned integers
make_float2|function|(x, y)|Makes a float2
make_float4|function|(x, y, z, w)|Makes a float4
make_int4|function|(x, y, z, w)|Makes an int4
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
__pipeline_commit|function|()|Ends a batch of copies
__pipeline_wait_prior|function|(batches)|Waits until so many batches are left
cuda::barrier|class|cuda/barrier|A barrier of threads
cuda::memcpy_async|function|(group, to, from, bytes, barrier)|Copies without waiting
cudaMalloc|function|(&pointer, bytes)|GPU memory
cudaFree|function|(pointer)|Gives GPU memory back
cudaMemcpyAsync|function|(to, from, bytes, kind, stream)|Copies
cudaMemsetAsync|function|(pointer, byte, bytes, stream)|Fills
cudaGetLastError|function|()|What went wrong since the last time
cudaFuncSetAttribute|function|(kernel, attribute, value)|Such as more shared memory
cudaFuncAttributeMaxDynamicSharedMemorySize|constant||Shared memory of more than 48 KiB
cudaLaunchCooperativeKernel|function|(kernel, grid, block, args, shared, stream)|Starts a grid that can wait for itself
cudaOccupancyMaxActiveBlocksPerMultiprocessor|function|(&blocks, kernel, threads, shared)|How many blocks fit
`);

export const cpp = entries(`
std::vector|class|vector|A list
std::array|class|array|A list of a fixed size
std::span|class|span|A view of a list
std::move|function|utility|Gives a value away
std::min|function|algorithm|The lesser
std::max|function|algorithm|The greater
std::fill|function|algorithm|Fills a range
std::copy|function|algorithm|Copies a range
std::transform|function|algorithm|Maps a range
std::accumulate|function|numeric|Sums up a range
std::inclusive_scan|function|numeric|Prefix sums
std::exclusive_scan|function|numeric|Prefix sums without the element
std::size_t|type|cstddef|Sizes
std::int32_t|type|cstdint|32 bits
std::uint32_t|type|cstdint|32 bits without sign
std::uint64_t|type|cstdint|64 bits without sign
std::sqrt|function|cmath|Square root
std::exp|function|cmath|Exponential
std::fma|function|cmath|x * y + z, rounded once
std::numeric_limits|class|limits|What a type can hold
std::thread|class|thread|A thread
std::memcpy|function|cstring|Copies bytes
`);
