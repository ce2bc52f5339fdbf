// A task of the older form: generate_input without arguments, ref_kernel, and check_implementation, which compares two
// answers. Include after the reference.
//
// 10 untimed calls come first, then 100 timed ones. Standard output gets "score: SECONDS", the mean; the report has the
// same in nanoseconds and every call's time.
#ifndef WARPBOARD_LEGACY_TASK_H
#define WARPBOARD_LEGACY_TASK_H

#include <cstdio>
#include <vector>

#include "warpboard_cases.h"
#include "warpboard_clocks.h"
#include "warpboard_verdict.h"

namespace warpboard {

struct LegacyTask {
    using Input = input_t;
    using Output = output_t;
    static constexpr StopRule rule{100, 100, 0, 1e18, 1e18};

    static std::vector<Case> cases(const char*) { return {Case{"generate_input()", {}}}; }
    static uint32_t untimed_calls(uint32_t) { return 10; }
    static Input input(const Case&, bool) { return generate_input(); }

    static Verdict check(Input& input, Output& custom) {
        Output expected = ref_kernel(input);
        if (check_implementation(custom, expected)) return {true, ""};
        return {false, "check_implementation failed"};
    }

    static void passed(const Stats& stats) {
        const double seconds = stats.mean() / 1e9;
        std::printf("submitted kernel runtime: %.9g seconds\nscore: %.9g\n", seconds, seconds);
    }
    static void failed() { std::printf("check_implementation failed\n"); }
};

}  // namespace warpboard

#endif
