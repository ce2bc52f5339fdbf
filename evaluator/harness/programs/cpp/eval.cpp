// The judge of a C++ task: the program that has the reference.
#include "task.h"
#include "utils.h"

#if __has_include("reference.h")
#include "reference.h"
#elif __has_include("reference.hpp")
#include "reference.hpp"
#else
#include "reference.cuh"
#endif

#include "warpboard_host.h"
#include "warpboard_judge.h"
#include "warpboard_task.h"

int main(int argc, char** argv) {
    using namespace warpboard;
    return judge_main<StandardTask, HostJudge, HostRunner>(argc, argv);
}
