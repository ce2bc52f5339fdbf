// The functions of the CUDA runtime that the judge's side of a device uses, implemented by the driver (cuda.h in this
// folder), for programs that are compiled without nvcc. They use the current context, and launch the kernels of
// warpboard_kernels.h.
#ifndef WARPBOARD_CORE_CUDA_RUNTIME_H
#define WARPBOARD_CORE_CUDA_RUNTIME_H

#include <cstring>

#include "cuda.h"

#define __host__
#define __device__
#define __global__
#define WARPBOARD_PTX  // kernels are loaded as PTX, not compiled from CUDA code
#define WARPBOARD_LAUNCH(kernel, blocks, threads, ...) ::warpboard::launch(#kernel, blocks, threads, __VA_ARGS__)
#define CUDART_VERSION 11080

using cudaError_t = CUresult;
using cudaStream_t = CUstream;
enum cudaMemcpyKind { cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaDevAttrL2CacheSize = CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, cudaStreamNonBlocking = 1, cudaHostRegisterMapped, cudaEnableDefault };
constexpr cudaError_t cudaSuccess = CUDA_SUCCESS, cudaErrorNotReady = CUDA_ERROR_NOT_READY;
constexpr cudaStream_t cudaStreamLegacy = nullptr;

inline const char* cudaGetErrorName(cudaError_t status) {
    const char* name = "unknown";
    WARPBOARD_DRIVER(cuGetErrorName)(status, &name);
    return name;
}
inline const char* cudaGetErrorString(cudaError_t) { return "the driver's call failed"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) { return WARPBOARD_DRIVER(cuCtxGetDevice)(device); }
inline cudaError_t cudaDeviceGetAttribute(int* value, int attribute, int device) { return WARPBOARD_DRIVER(cuDeviceGetAttribute)(value, attribute, device); }
inline cudaError_t cudaCtxResetPersistingL2Cache() { return WARPBOARD_DRIVER(cuCtxResetPersistingL2Cache)(); }
inline cudaError_t cudaDeviceSynchronize() { return WARPBOARD_DRIVER(cuCtxSynchronize)(); }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) { return WARPBOARD_DRIVER(cuStreamCreate)(stream, flags); }
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return WARPBOARD_DRIVER(cuStreamSynchronize)(stream); }
inline cudaError_t cudaStreamQuery(cudaStream_t stream) { return WARPBOARD_DRIVER(cuStreamQuery)(stream); }
inline cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned) { return WARPBOARD_DRIVER(cuMemHostRegister)(memory, bytes, CU_MEMHOSTREGISTER_DEVICEMAP); }
inline cudaError_t cudaHostUnregister(void* memory) { return WARPBOARD_DRIVER(cuMemHostUnregister)(memory); }
inline cudaError_t cudaHostGetDevicePointer(void** seen, void* memory, unsigned) {
    return WARPBOARD_DRIVER(cuMemHostGetDevicePointer)(reinterpret_cast<CUdeviceptr*>(seen), memory, 0);
}
template <class T>
cudaError_t cudaMalloc(T** memory, size_t bytes) {
    return WARPBOARD_DRIVER(cuMemAlloc)(reinterpret_cast<CUdeviceptr*>(memory), bytes);
}
inline cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
    if (bytes == 0) return cudaSuccess;
    return WARPBOARD_DRIVER(cuMemsetD8Async)(reinterpret_cast<CUdeviceptr>(memory), static_cast<unsigned char>(value), bytes, stream);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    const auto source = reinterpret_cast<CUdeviceptr>(from);
    if (kind == cudaMemcpyDeviceToHost) return WARPBOARD_DRIVER(cuMemcpyDtoHAsync)(to, source, bytes, stream);
    return WARPBOARD_DRIVER(cuMemcpyDtoDAsync)(reinterpret_cast<CUdeviceptr>(to), source, bytes, stream);
}
// Copies from the device to host memory; other directions are not implemented.
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t step, const void* from, size_t pitch, size_t width, size_t height, cudaMemcpyKind, cudaStream_t stream) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = reinterpret_cast<CUdeviceptr>(from), copy.srcPitch = pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = to, copy.dstPitch = step;
    copy.WidthInBytes = width, copy.Height = height;
    return WARPBOARD_DRIVER(cuMemcpy2DAsync)(&copy, stream);
}
inline cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, int) {
    const std::string found(name);
    *function = warpboard::driver_symbol((found.find("Value32") == std::string::npos ? found : found + "_v2").c_str());
    return cudaSuccess;
}

namespace warpboard {

// Returns a kernel of the judge in the current context.
CUfunction judge_kernel(const char* name);

// Launches a kernel on the default stream.
template <class... Arguments>
void launch(const char* name, unsigned blocks, unsigned threads, Arguments... arguments) {
    void* pointers[] = {&arguments...};
    const CUresult status = WARPBOARD_DRIVER(cuLaunchKernel)(judge_kernel(name), blocks, 1, 1, threads, 1, 1, 0, cudaStreamLegacy, pointers, nullptr);
    if (status != CUDA_SUCCESS) throw std::runtime_error(std::string(name) + " cannot be launched: " + cudaGetErrorName(status));
}

}  // namespace warpboard

#endif
