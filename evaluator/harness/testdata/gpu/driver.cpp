// A CUDA driver, libcuda.so.1, for two devices like the one that cuda_runtime.h beside this pretends. It has the
// functions that core/cuda.h declares. Its modules have the kernels of warpboard_hold.h and the gate of
// warpboard_seal.h, compiled for the host in place of their PTX.
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <cuda.h>

#include "warpboard_answer.h"
#include "warpboard_hold.h"

namespace {

constexpr CUresult failed = static_cast<CUresult>(999), not_ready = static_cast<CUresult>(600);

struct Device {
    int number;
    std::vector<fake::Stream*> streams;
    Device(int n, int count) : number(n) {
        for (int i = 0; i < count; ++i) streams.push_back(new fake::Stream);
    }
};

Device& device(int number) {
    static auto* all = new Device[2]{{0, 1}, {1, 1}};
    return all[number];
}

Device*& current() {
    thread_local Device* chosen = &device(0);
    return chosen;
}

// A test's function: it hears of work when it is queued and when it begins, and of memory that a device is shown. It may
// refuse to queue work.
int (*watch)(int device, const char* moment, const char* what, size_t bytes) = nullptr;

CUresult push(CUstream stream, const char* what, size_t bytes, std::function<void()> work) {
    const auto heard = watch;
    const int number = current()->number;
    if (heard != nullptr && heard(number, "queued", what, bytes) != 0) return failed;
    (stream != nullptr ? stream : current()->streams[0])->push([=] {
        if (heard != nullptr) heard(number, "began", what, bytes);
        work();
    });
    return CUDA_SUCCESS;
}

template <class T = unsigned char>
T* at(CUdeviceptr address) { return reinterpret_cast<T*>(address); }

template <class... P, size_t... i>
std::function<void()> bound(void (*kernel)(P...), void** given, std::index_sequence<i...>) {
    std::tuple<P...> values{*static_cast<P*>(given[i])...};
    return [=] { std::apply(kernel, values); };
}

struct Kernel {
    const char* name;
    std::function<std::function<void()>(void**)> bind;
};

template <class... P>
Kernel kernel(const char* name, void (*function)(P...)) {
    return {name, [=](void** given) { return bound(function, given, std::index_sequence_for<P...>{}); }};
}

Kernel* find(const std::string& name) {
    static Kernel all[] = {kernel("begin_writing", warpboard::begin_writing), kernel("seal", warpboard::seal),
                           kernel("take_pieces_out", warpboard::take_pieces_out), kernel("hold_device", warpboard::hold_device),
                           kernel("warpboard_open_gate", warpboard::warpboard_open_gate)};
    for (Kernel& one : all) {
        if (one.name == name) return &one;
    }
    return nullptr;
}

struct Copy2D {  // CUDA_MEMCPY2D
    size_t from_x, from_y;
    unsigned from_kind;
    const void* from_host;
    CUdeviceptr from;
    void* from_array;
    size_t pitch, to_x, to_y;
    unsigned to_kind;
    void* to;
    CUdeviceptr to_device;
    void* to_array;
    size_t step, width, height;
};

}  // namespace

extern "C" {

void fake_watch(int (*heard)(int, const char*, const char*, size_t)) { watch = heard; }

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr word, uint32_t number, unsigned) {
    return push(stream, "wait", 4, [=] {
        while (static_cast<int32_t>(__atomic_load_n(at<uint32_t>(word), __ATOMIC_ACQUIRE) - number) < 0) sched_yield();
    });
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr word, uint32_t number, unsigned) {
    return push(stream, "write", 4, [=] { __atomic_store_n(at<uint32_t>(word), number, __ATOMIC_RELEASE); });
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
    return push(stream, "fill", bytes, [=] { std::memset(at(to), value, bytes); });
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return push(stream, "copy", bytes, [=] { std::memcpy(at(to), at(from), bytes); });
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return push(stream, "read", bytes, [=] { std::memcpy(to, at(from), bytes); });
}
CUresult cuMemcpy2DAsync_v2(const Copy2D* given, CUstream stream) {
    const Copy2D copy = *given;
    return push(stream, "sample", copy.width * copy.height, [=] {
        for (size_t row = 0; row < copy.height; ++row) {
            std::memcpy(static_cast<char*>(copy.to) + row * copy.step, at(copy.from) + row * copy.pitch, copy.width);
        }
    });
}
CUresult cuMemAlloc_v2(CUdeviceptr* memory, size_t bytes) {
    *memory = reinterpret_cast<CUdeviceptr>(std::calloc(1, bytes));
    return CUDA_SUCCESS;
}
CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
    *free = *total = fake::room();
    return CUDA_SUCCESS;
}
CUresult cuMemHostRegister_v2(void*, size_t bytes, unsigned) {
    if (watch != nullptr) watch(current()->number, "now", "shown", bytes);
    return CUDA_SUCCESS;
}
CUresult cuMemHostUnregister(void*) {
    if (watch != nullptr) watch(current()->number, "now", "not shown", 0);
    return CUDA_SUCCESS;
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* seen, void* memory, unsigned) {
    *seen = reinterpret_cast<CUdeviceptr>(memory);
    return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
    current()->streams.push_back(*stream = new fake::Stream);
    return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
    (stream != nullptr ? stream : current()->streams[0])->wait();
    return CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream stream) {
    return (stream != nullptr ? stream : current()->streams[0])->idle() ? CUDA_SUCCESS : not_ready;
}
CUresult cuCtxSynchronize() {
    for (fake::Stream* stream : current()->streams) stream->wait();
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(Device** context, int number) {
    *context = &device(number);
    return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(int* number) {
    *number = current()->number;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(Device** context) {
    *context = current();
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(Device* context) {
    current() = context;
    return CUDA_SUCCESS;
}
CUresult cuCtxResetPersistingL2Cache() { return failed; }  // as on old devices
CUresult cuDeviceGetAttribute(int* value, int, int) {
    *value = 1 << 20;
    return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(const char** module, const char* text) {
    *module = text;
    return std::strncmp(text, ".version", 8) == 0 ? CUDA_SUCCESS : failed;
}
CUresult cuModuleGetFunction(Kernel** found, const char*, const char* name) {
    *found = find(name);
    return *found != nullptr ? CUDA_SUCCESS : failed;
}
CUresult cuLaunchKernel(Kernel* kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream stream,
                        void** arguments, void**) {
    return push(stream, kernel->name, 0, kernel->bind(arguments));
}
CUresult cuGetErrorName(CUresult, const char** name) {
    *name = "CUDA_ERROR_UNKNOWN";
    return CUDA_SUCCESS;
}

}  // extern "C"
