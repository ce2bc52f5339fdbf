// The judge of a CUDA task: the program that has the reference.
#define WARPBOARD_JUDGE

#include "task.h"
#include "utils.h"

#if __has_include("reference.cuh")
#include "reference.cuh"
#else
#include "reference.h"
#endif

#include "warpboard_device_array.h"
#include "warpboard_gpu_judge.h"
#include "warpboard_gpu_runner.h"
#include "warpboard_judge.h"
#include "warpboard_task.h"

namespace warpboard {

void* take_device(size_t bytes) { return device_pool().take(bytes); }
void give_device(void* memory, size_t) noexcept { device_pool().give(memory); }

}  // namespace warpboard

int main(int argc, char** argv) {
    using namespace warpboard;
    return judge_main<StandardTask, GpuJudge, GpuRunner>(argc, argv);
}
