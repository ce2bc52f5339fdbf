// The judge of a task of the older form in CUDA C++.
#define WARPBOARD_JUDGE

#include <chrono>
#include <iostream>

#include <cuda_runtime.h>

#include "warpboard_legacy_gpu.h"
#include "warpboard_judge.h"

// The headers above must precede the task's files, whose macros could otherwise change them.
#include "reference.cuh"
#include "warpboard_legacy_task.h"

int main(int argc, char** argv) {
    using namespace warpboard;
    return judge_main<LegacyTask, LegacyGpuJudge, LegacyGpuRunner>(argc, argv);
}
