// A task of the standard form: generate_input with named arguments, and check_implementation with a
// TestReporter. Include after task.h and the reference.
#ifndef WARPBOARD_TASK_H
#define WARPBOARD_TASK_H

#include <string>
#include <vector>

#include "utils.h"
#include "warpboard_cases.h"
#include "warpboard_clocks.h"
#include "warpboard_verdict.h"

namespace warpboard {

struct StandardTask {
    using Input = input_t;
    using Output = output_t;
    static constexpr StopRule rule{};

    static std::vector<Case> cases(const char* path) { return read_cases(path); }

    // Returns the number of untimed calls before the timed ones. First calls have costs that are not the kernel's.
    static uint32_t untimed_calls(uint32_t random) { return 2 + random % 3; }

    // Returns the input of a case: with a new secret seed and key if fresh is set, else with the seed in the case.
    static Input input(Case c, bool fresh) {
        call_key = CallKey{};
        if (fresh) {
            draw_random(&call_key, sizeof call_key);
            const std::string seed = fresh_seed(&generate_input, ArgumentNames);
            for (auto& [key, value] : c.arguments) {
                if (key == "seed" && !seed.empty()) value = seed;
            }
        }
        return generate(&generate_input, ArgumentNames, c);
    }

    static Verdict check(Input& input, Output& output) {
        TestReporter reporter;
        check_implementation(reporter, input, output);
        if (!reporter.has_verdict()) throw TaskFailed{"check_implementation must call pass() or fail() exactly once."};
        return {reporter.has_passed(), reporter.message()};
    }

    static void passed(const Stats&) {}
    static void failed() {}
};

}  // namespace warpboard

#endif
