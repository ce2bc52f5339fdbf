// A task of the standard form: generate_input with named arguments, and check_implementation with a
// TestReporter. Include after task.h and the reference.
#ifndef WARPBOARD_TASK_H
#define WARPBOARD_TASK_H

#include <optional>
#include <string>

#include "utils.h"
#include "warpboard_cases.h"

namespace warpboard {

struct Verdict {
    bool passed = false;
    std::string message;
};

// A generator, reference or checker that failed; the task's author has to see to it.
struct TaskFailed {
    std::string sentence;
};

struct StandardTask {
    using Input = input_t;
    using Output = output_t;

    // The input of a case: with a seed and a key of its own, or, public, as the case says.
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
};

}  // namespace warpboard

#endif
