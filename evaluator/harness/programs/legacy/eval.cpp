// The judge of a task of the older form in C++ on the CPU.
#include <chrono>
#include <iostream>

#include "warpboard_host.h"
#include "warpboard_judge.h"

// The headers above must precede the task's files, whose macros could otherwise change them.
#include "reference.cuh"
#include "warpboard_legacy_task.h"

int main(int argc, char** argv) {
    using namespace warpboard;
    return judge_main<LegacyTask, HostJudge, HostRunner>(argc, argv);
}
