// The driver's part of the device that cuda_runtime.h beside this pretends.
#pragma once

#include <sched.h>

#include "cuda_runtime.h"

using CUdeviceptr = unsigned long long;
using CUstream = fake::Stream*;
using CUmemGenericAllocationHandle = unsigned long long;  // a descriptor
enum CUresult { CUDA_SUCCESS, CUDA_ERROR_OUT_OF_MEMORY = 2 };
enum { CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CU_STREAM_WAIT_VALUE_GEQ, CU_STREAM_WRITE_VALUE_DEFAULT };
struct CUmemLocation { int type, id; };
struct CUmemAllocationProp { int type; CUmemLocation location; int requestedHandleTypes; };
struct CUmemAccessDesc { CUmemLocation location; int flags; };

inline CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr at, uint32_t value, int) {
    stream->push([=] {
        while (reinterpret_cast<std::atomic<uint32_t>*>(at)->load() < value) sched_yield();
    });
    return CUDA_SUCCESS;
}
inline CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr at, uint32_t value, unsigned) {
    fake::behind_gate() = false;
    stream->push([=] { reinterpret_cast<std::atomic<uint32_t>*>(at)->store(value); });
    return CUDA_SUCCESS;
}
extern "C" {  // driver.cpp exports them
[[gnu::used]] inline CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp*, unsigned long long) {
    if (bytes > fake::room()) return CUDA_ERROR_OUT_OF_MEMORY;
    const int fd = memfd_create("device", 0);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = static_cast<CUmemGenericAllocationHandle>(fd);
    return CUDA_SUCCESS;
}
[[gnu::used]] inline CUresult cuMemRelease(CUmemGenericAllocationHandle handle) { close(static_cast<int>(handle)); return CUDA_SUCCESS; }
[[gnu::used]] inline CUresult cuMemExportToShareableHandle(void* fd, CUmemGenericAllocationHandle handle, int, unsigned long long) {
    *static_cast<int*>(fd) = dup(static_cast<int>(handle));
    return CUDA_SUCCESS;
}
[[gnu::used]] inline CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* fd, int) {
    *handle = static_cast<CUmemGenericAllocationHandle>(dup(static_cast<int>(reinterpret_cast<intptr_t>(fd))));
    return CUDA_SUCCESS;
}
[[gnu::used]] inline CUresult cuMemAddressReserve(CUdeviceptr* at, size_t bytes, size_t, CUdeviceptr, unsigned long long) {
    *at = reinterpret_cast<CUdeviceptr>(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    return CUDA_SUCCESS;
}
[[gnu::used]] inline CUresult cuMemAddressFree(CUdeviceptr at, size_t bytes) { munmap(reinterpret_cast<void*>(at), bytes); return CUDA_SUCCESS; }
[[gnu::used]] inline CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t, CUmemGenericAllocationHandle handle, unsigned long long) {
    mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, static_cast<int>(handle), 0);
    return CUDA_SUCCESS;
}
[[gnu::used]] inline CUresult cuMemUnmap(CUdeviceptr at, size_t bytes) {
    mmap(reinterpret_cast<void*>(at), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return CUDA_SUCCESS;
}
[[gnu::used]] inline CUresult cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc*, size_t) { return CUDA_SUCCESS; }
}

inline cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, int) {
    static const std::map<std::string, void*> known{
        {"cuStreamWaitValue32", reinterpret_cast<void*>(&cuStreamWaitValue32)},
        {"cuStreamWriteValue32", reinterpret_cast<void*>(&cuStreamWriteValue32)},
        {"cuMemCreate", reinterpret_cast<void*>(&cuMemCreate)},
        {"cuMemRelease", reinterpret_cast<void*>(&cuMemRelease)},
        {"cuMemExportToShareableHandle", reinterpret_cast<void*>(&cuMemExportToShareableHandle)},
        {"cuMemImportFromShareableHandle", reinterpret_cast<void*>(&cuMemImportFromShareableHandle)},
        {"cuMemAddressReserve", reinterpret_cast<void*>(&cuMemAddressReserve)},
        {"cuMemAddressFree", reinterpret_cast<void*>(&cuMemAddressFree)},
        {"cuMemMap", reinterpret_cast<void*>(&cuMemMap)},
        {"cuMemUnmap", reinterpret_cast<void*>(&cuMemUnmap)},
        {"cuMemSetAccess", reinterpret_cast<void*>(&cuMemSetAccess)},
    };
    *function = known.at(name);
    return cudaSuccess;
}
