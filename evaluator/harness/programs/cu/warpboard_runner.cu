// The runner of a CUDA task: the program that has the submission.
#include "task.h"
#include "utils.h"

// The submission's function, which is compiled separately and linked.
output_t custom_kernel(input_t data);

#include "warpboard_device_array.h"
#include "warpboard_gpu_runner.h"
#include "warpboard_memory.h"
#include "warpboard_runner.h"

namespace {

struct Kernel {
    template <class Stop>
    static void call(input_t& input, Stop stop) {
        stop(custom_kernel(std::move(input)));
    }
};

// Returns the runner's GPU. It is never freed, because buffers of the submission may outlive every other object.
warpboard::GpuRunner& gpu() {
    static auto* device = new warpboard::GpuRunner;
    return *device;
}

}  // namespace

namespace warpboard {

void* take_device(size_t bytes) {
    void* memory = device_arrays_apart() ? nullptr : gpu().take(bytes);
    if (memory != nullptr) return memory;
    CUDA_CHECK(cudaMalloc(&memory, bytes));
    return memory;
}

// Frees memory of a DeviceBuffer. It overwrites the memory first, so that no later call finds an old answer there.
void give_device(void* memory, size_t bytes) noexcept {
    if (gpu().give(memory)) return;
    cudaMemset(memory, 0xFF, bytes);  // an error is returned by the next checked CUDA call
    cudaFree(memory);
}

}  // namespace warpboard

int main() {
    using namespace warpboard;
    return run_runner([] {
        HeapMemory<GpuRunner> memory(gpu());
        Runner<input_t, output_t, Kernel, GpuRunner, HeapMemory<GpuRunner>>(channel_fd, page_fd, gpu(), memory).serve();
    });
}
