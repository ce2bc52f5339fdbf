// Functions of the CUDA driver that the runtime does not offer, found at run time, so that linking needs no driver; and
// memory of the device that two processes map.
#ifndef WARPBOARD_DRIVER_H
#define WARPBOARD_DRIVER_H

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "warpboard_exit.h"
#include "warpboard_random.h"
#include "warpboard_shared.h"

namespace warpboard {

class Driver {
public:
    Driver() {
        find("cuStreamWaitValue32", wait_value);
        find("cuStreamWriteValue32", write_value);
        find("cuMemCreate", create);
        find("cuMemRelease", release);
        find("cuMemExportToShareableHandle", export_handle);
        find("cuMemImportFromShareableHandle", import_handle);
        find("cuMemAddressReserve", reserve);
        find("cuMemAddressFree", unreserve);
        find("cuMemMap", map);
        find("cuMemUnmap", unmap);
        find("cuMemSetAccess", set_access);
    }

    decltype(&cuStreamWaitValue32) wait_value;
    decltype(&cuStreamWriteValue32) write_value;
    decltype(&cuMemCreate) create;
    decltype(&cuMemRelease) release;
    decltype(&cuMemExportToShareableHandle) export_handle;
    decltype(&cuMemImportFromShareableHandle) import_handle;
    decltype(&cuMemAddressReserve) reserve;
    decltype(&cuMemAddressFree) unreserve;
    decltype(&cuMemMap) map;
    decltype(&cuMemUnmap) unmap;
    decltype(&cuMemSetAccess) set_access;

private:
    template <class Function>
    static void find(const char* name, Function& function) {
        void* found = nullptr;
#if CUDART_VERSION >= 12050
        cudaDriverEntryPointQueryResult result;
        const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
#else
        const cudaError_t status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault);
#endif
        if (status != cudaSuccess || found == nullptr) {
            std::fprintf(stderr, "the driver has no %s\n", name);
            std::_Exit(ExitCodes::EXIT_CUDA_API);
        }
        function = reinterpret_cast<Function>(found);
    }
};

// Returns the driver's functions. They need a CUDA context, which the first call creates.
inline const Driver& driver() {
    static const Driver functions;
    return functions;
}

// Pins host memory and returns its address on the device.
inline CUdeviceptr seen_by_device(void* memory, size_t bytes) {
    void* seen = nullptr;
    WARPBOARD_CUDA(cudaHostRegister(memory, bytes, cudaHostRegisterMapped));
    WARPBOARD_CUDA(cudaHostGetDevicePointer(&seen, memory, 0));
    return reinterpret_cast<CUdeviceptr>(seen);
}

// Makes a stream wait until a word in host memory is at least number. Returns false if the device does not support
// this.
inline bool queue_wait(cudaStream_t stream, CUdeviceptr word, uint32_t number) {
    return driver().wait_value(reinterpret_cast<CUstream>(stream), word, number, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS;
}

// Makes a stream write a number to a word in host memory after all its earlier work. Returns false if the device does
// not support this.
inline bool queue_write(cudaStream_t stream, CUdeviceptr word, uint32_t number) {
    return driver().write_value(reinterpret_cast<CUstream>(stream), word, number, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS;
}

// DeviceMemory allocates and maps device memory that processes share by passing a file descriptor.
class DeviceMemory {
public:
    // Allocates memory of a size that is a multiple of region_step, and returns a descriptor for it.
    static bool make(Region& region, int& fd) {
        CUmemAllocationProp prop = properties();
        CUmemGenericAllocationHandle handle;
        if (driver().create(&handle, region.size, &prop, 0) != CUDA_SUCCESS) return false;
        const bool made = driver().export_handle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) == CUDA_SUCCESS &&
                          show(region, handle);
        driver().release(handle);  // memory that is mapped is not freed by this
        return made;
    }

    // Allocates 1 to 32 pages of the device without mapping them, so that the next allocation has another physical
    // address. This address makes a kernel of 5 µs faster or slower by a percent: if all processes of a run had the
    // same address, they would agree with each other more than with the next run. Returns 0 if there is no such memory.
    static CUmemGenericAllocationHandle space() {
        CUmemAllocationProp prop = properties();
        uint32_t pages = 0;
        draw_random(&pages, sizeof pages);
        CUmemGenericAllocationHandle handle = 0;
        const CUresult made = driver().create(&handle, (pages % 32 + 1) * page_bytes, &prop, 0);
        return made == CUDA_SUCCESS ? handle : 0;
    }
    static void give_back(CUmemGenericAllocationHandle space) {
        if (space != 0) driver().release(space);
    }

    static bool import(Region& region, int fd) {
        CUmemGenericAllocationHandle handle;
        void* given = reinterpret_cast<void*>(static_cast<intptr_t>(fd));
        if (driver().import_handle(&handle, given, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != CUDA_SUCCESS) return false;
        const bool mapped = show(region, handle);
        driver().release(handle);
        return mapped;
    }

    // Unmaps memory. If addresses is set, it also frees its address range, which otherwise stays reserved.
    static void drop(const Region& region, bool addresses) {
        const auto at = reinterpret_cast<CUdeviceptr>(region.base);
        driver().unmap(at, region.size);
        if (addresses) driver().unreserve(at, region.size);
    }

private:
    static constexpr size_t page_bytes = size_t{2} << 20;

    static CUmemAllocationProp properties() {
        CUmemAllocationProp prop{};
        prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, current_device()};
        prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        return prop;
    }

    static int current_device() {
        int device = 0;
        cudaGetDevice(&device);
        return device;
    }

    static bool show(Region& region, CUmemGenericAllocationHandle handle) {
        CUdeviceptr at = 0;
        if (driver().reserve(&at, region.size, 0, 0, 0) != CUDA_SUCCESS) return false;
        region.base = reinterpret_cast<unsigned char*>(at);
        if (driver().map(at, region.size, 0, handle, 0) != CUDA_SUCCESS) return false;
        CUmemAccessDesc access{};
        access.location = {CU_MEM_LOCATION_TYPE_DEVICE, current_device()};
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return driver().set_access(at, region.size, &access, 1) == CUDA_SUCCESS;
    }
};

}  // namespace warpboard

#endif
