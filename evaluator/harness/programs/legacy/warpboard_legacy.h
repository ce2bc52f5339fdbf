// The older form of a task: reference and submission are headers of one translation unit.
//
//   reference.cuh  input_t, output_t, input_t generate_input(), output_t ref_kernel(input_t),
//                  bool check_implementation(output_t custom, output_t reference)
//   train.cuh      output_t custom_kernel(input_t), the submission
//
// 10 warm-ups, then 100 timed runs; a run's time is from a synchronised start to a synchronised end and
// leaves out making its input. Standard output gets "score: SECONDS", the mean; the result pipe
// gets the same in nanoseconds with every run's time.
//
// This is included before both, so that no macro of theirs reaches it, and keeps to names of its own.
#ifndef WARPBOARD_LEGACY_H
#define WARPBOARD_LEGACY_H

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "warpboard_report.h"

namespace warpboard {

constexpr int warm_up_runs = 10;
constexpr int timed_runs = 100;

inline double now_ns() {
    using namespace std::chrono;
    return static_cast<double>(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

// Runs the older form with a Reference and a Kernel on a Device that can synchronise, flush caches and
// mark a range. Input and Output are the task's input_t and output_t.
template <class Input, class Output, class Reference, class Kernel, class Device>
class Legacy {
public:
    int run(const std::string& mode) {
        const bool timed = mode != "test";
        const std::string kind = timed ? "benchmark" : "test";
        report_.log(kind + "-count", size_t{1});
        report_.log(kind + ".0.spec", std::string("generate_input()"));
        bool right = is_right();
        if (right && mode == "profile") profile();
        if (right && (mode == "benchmark" || mode == "leaderboard")) {
            Stats stats = time_runs();
            right = is_right();
            if (right) publish(stats, kind + ".0.");
        }
        if (!right) {
            std::printf("check_implementation failed\n");
            report_.log(kind + ".0.error", std::string("check_implementation failed"));
        }
        report_.log(kind + ".0.status", std::string(right ? "pass" : "fail"));
        report_.verdict(right);
        return right ? 0 : ExitCodes::EXIT_VALIDATE_FAIL;
    }

private:
    bool is_right() {
        Input input = Reference::input();
        Output expected = Reference::answer(input);
        Output custom = call(input);
        return Reference::agrees(custom, expected);
    }

    double one_run() {
        Input input = Reference::input();
        device_.flush();
        device_.synchronize();
        Output output = call(input);
        return elapsed_ns_;
    }

    // Calls the kernel, with its time in elapsed_ns_. The clock stops before the life of the kernel's
    // argument ends: giving its memory back is not the kernel's time.
    Output call(Input& input) {
        const double begin_ns = now_ns();
        return Kernel::call(input, [&](Output&& output) -> Output&& {
            device_.synchronize();
            elapsed_ns_ = now_ns() - begin_ns;
            return std::move(output);
        });
    }

    Stats time_runs() {
        for (int i = 0; i < warm_up_runs; ++i) one_run();
        Stats stats;
        for (int i = 0; i < timed_runs; ++i) stats.add(one_run());
        return stats;
    }

    void profile() {
        Input input = Reference::input();
        device_.synchronize();
        device_.begin_range();
        Output output = call(input);
        device_.end_range();
    }

    void publish(const Stats& stats, const std::string& prefix) {
        const double seconds = stats.mean() / 1e9;
        std::printf("submitted kernel runtime: %.9g seconds\nscore: %.9g\n", seconds, seconds);
        stats.log(report_, prefix);
    }

    Report report_;
    Device device_;
    double elapsed_ns_ = 0;
};

template <class Input, class Output, class Reference, class Kernel, class Device>
int legacy_main(int argc, char** argv) {
    try {
        int code = Legacy<Input, Output, Reference, Kernel, Device>().run(argc > 1 ? argv[1] : "leaderboard");
        std::fflush(nullptr);
        return code;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "uncaught exception: %s\n", e.what());
        return 1;
    }
}

}  // namespace warpboard

#endif
