// As much of CUDA as the harness uses, with a device that is a thread for each stream and memory of the host.
// A kernel is a function that is launched with fake::launch.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define __host__
#define __device__
#define __global__
#define __shared__
#define WARPBOARD_DEVICE_NS(now) (sched_yield(), (now) = fake::nanoseconds())
#define WARPBOARD_LAUNCH(kernel, blocks, threads, ...) fake::call(kernel, __VA_ARGS__)
#define WARPBOARD_LOAD_LINE(into, from) fake::load_line(into, from)
#define WARPBOARD_STORE_LINE(to, from) std::memcpy(to, from, 16)
#define CUDART_VERSION 11080

enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation = 2, cudaErrorNotReady = 600 };
enum cudaDeviceAttr { cudaDevAttrL2CacheSize };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaStreamNonBlocking = 1, cudaDeviceScheduleSpin, cudaHostRegisterMapped, cudaEnableDefault };

namespace fake {

// Whether a kernel is the last that was queued, and not a wait for the judge or a word to it.
inline bool& behind_gate() {
    static bool is = false;
    return is;
}

// A queue that a thread works off; what is queued afterwards waits.
class Stream {
public:
    void push(std::function<void()> work) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (!started_) std::thread([this] { run(); }).detach();
        started_ = true;
        queue_.push_back(std::move(work));
        changed_.notify_all();
    }
    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return queue_.empty(); });
    }
    bool idle() {
        std::lock_guard<std::mutex> lock(mutex_);
        return queue_.empty();
    }

private:
    void run() {
        for (;;) {
            std::unique_lock<std::mutex> lock(mutex_);
            changed_.wait(lock, [this] { return !queue_.empty(); });
            std::function<void()> work = queue_.front();
            lock.unlock();
            work();
            lock.lock();
            queue_.pop_front();
            changed_.notify_all();
        }
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> queue_;
    bool started_ = false;
};

struct Event {
    std::atomic<int> pending{0};
    std::chrono::steady_clock::time_point at;
};

inline unsigned long long nanoseconds() {
    return static_cast<unsigned long long>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// All streams, in the order of their making. A program makes them before it has a second thread.
inline std::vector<Stream*>& streams() { static auto* all = new std::vector<Stream*>; return *all; }
inline Stream* make_stream() { streams().push_back(new Stream); return streams().back(); }
inline Stream& legacy() { static auto* stream = make_stream(); return *stream; }
inline Stream& side() { static auto* stream = make_stream(); return *stream; }
inline size_t& room() { static size_t bytes = size_t{1} << 30; return bytes; }  // what the device has

}  // namespace fake

using cudaStream_t = fake::Stream*;
using cudaEvent_t = fake::Event*;
inline const cudaStream_t cudaStreamLegacy = &fake::legacy();

namespace fake {
inline void launch(std::function<void()> kernel, cudaStream_t stream = cudaStreamLegacy) { stream->push(std::move(kernel)); }

// A kernel of one block of one thread, which does what all do.
template <class... Parameters, class... Arguments>
void call(void (*kernel)(Parameters...), Arguments... arguments) {
    behind_gate() = true;
    launch([=] { kernel(arguments...); });
}

inline void load_line(uint32_t* into, volatile uint32_t* from) {
    sched_yield();
    into[0] = __atomic_load_n(from, __ATOMIC_ACQUIRE);
    for (int i = 1; i < 4; ++i) into[i] = from[i];
}
}  // namespace fake

inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }
struct dim3 { unsigned x; explicit dim3(unsigned n) : x(n) {} };
inline const dim3 threadIdx(0), blockDim(1), blockIdx(0), gridDim(1);  // one thread does it all
inline void __syncthreads() {}
inline unsigned atomicInc(unsigned* word, unsigned last) {
    const unsigned old = *word;
    *word = old >= last ? 0 : old + 1;
    return old;
}

inline const char* cudaGetErrorName(cudaError_t) { return "cudaErrorMemoryAllocation"; }
inline const char* cudaGetErrorString(cudaError_t) { return "out of memory"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaSetDeviceFlags(int) { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) { *device = 0; return cudaSuccess; }
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) { *value = 1 << 20; return cudaSuccess; }
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) { stream->wait(); return cudaSuccess; }
// What is freed after it is no stream's any more, as on a real device.
inline cudaError_t cudaDeviceSynchronize() {
    for (fake::Stream* stream : fake::streams()) stream->wait();
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMalloc(T** memory, size_t bytes) {
    if (bytes > fake::room()) return cudaErrorMemoryAllocation;
    *memory = static_cast<T*>(std::malloc(bytes));
    return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) { cudaDeviceSynchronize(); std::free(memory); return cudaSuccess; }
inline cudaError_t cudaMemGetInfo(size_t* free, size_t* total) { *free = *total = size_t{1} << 30; return cudaSuccess; }
inline cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
    stream->push([=] { std::memset(memory, value, bytes); });
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void* memory, int value, size_t bytes) { return cudaMemsetAsync(memory, value, bytes, cudaStreamLegacy); }
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
    stream->push([=] { std::memcpy(to, from, bytes); });
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    cudaMemcpyAsync(to, from, bytes, kind, cudaStreamLegacy);
    if (kind != cudaMemcpyDeviceToDevice) fake::legacy().wait();
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t step, const void* from, size_t pitch, size_t width, size_t height, cudaMemcpyKind, cudaStream_t stream) {
    stream->push([=] {
        for (size_t row = 0; row < height; ++row) {
            std::memcpy(static_cast<char*>(to) + row * step, static_cast<const char*>(from) + row * pitch, width);
        }
    });
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, int) { *stream = fake::make_stream(); return cudaSuccess; }
inline cudaError_t cudaStreamQuery(cudaStream_t stream) { return stream->idle() ? cudaSuccess : cudaErrorNotReady; }
inline cudaError_t cudaHostRegister(void*, size_t, int) { return cudaSuccess; }
inline cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
inline cudaError_t cudaHostGetDevicePointer(void** seen, void* memory, int) { *seen = memory; return cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t* event) { *event = new fake::Event; return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    ++event->pending;
    stream->push([event] { event->at = std::chrono::steady_clock::now(); --event->pending; });
    return cudaSuccess;
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) { return event->pending > 0 ? cudaErrorNotReady : cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
    *ms = std::chrono::duration<float, std::milli>(end->at - begin->at).count();
    return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, int flags);
