// The stages of a C++ or CUDA task, the same for both: eval.cpp and eval.cu give a Device that knows
// how to poison memory and take the time with cold caches. Include after task.h and the reference.
#ifndef WARPBOARD_MAIN_H
#define WARPBOARD_MAIN_H

#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <malloc.h>

#include "warpboard_cases.h"
#include "warpboard_report.h"

// The submission, compiled apart and linked.
output_t custom_kernel(input_t data);

namespace warpboard {

// While true, freed memory is filled with 0xFF (NaN for floats) before the heap takes it back, so that
// a kernel that writes nothing never finds an old answer. It is false while a call is timed.
static bool poison_frees = true;

static void release(void* memory) noexcept {
    if (memory != nullptr && poison_frees) std::memset(memory, 0xFF, malloc_usable_size(memory));
    std::free(memory);
}

static double now_ns() {
    using namespace std::chrono;
    return static_cast<double>(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

// When to stop repeating a case: as KernelBot's programs do, in nanoseconds.
struct StopRule {
    size_t least = 3;
    size_t most = 100;
    double error = 0.001;       // standard error over mean
    double kernel_time = 10e9;  // sum of the timed calls
    double wall_time = 120e9;   // the case as a whole

    bool done(const Stats& stats, double wall) const {
        if (stats.runs() >= most) return true;
        if (stats.runs() < least) return false;
        return stats.err() < error * stats.mean() || stats.total() > kernel_time || wall > wall_time;
    }
};

// Runs cases and reports them. Every call gets a copy of its input that it may spoil, and memory in
// which no earlier answer is left.
template <class Device>
class Runner {
public:
    Runner(std::vector<Case> cases, std::optional<uint64_t> secret) : cases_(std::move(cases)) {
        for (Case& c : cases_) {
            const std::string* seed = c.find("seed");
            if (seed == nullptr || !secret) continue;
            set_seed(c, combine_seeds(convert<int64_t>(c, "seed", *seed), *secret));
        }
    }

    int test() {
        report_.log("test-count", cases_.size());
        bool passed = true;
        for (size_t i = 0; i < cases_.size(); ++i) {
            const std::string prefix = "test." + std::to_string(i) + ".";
            report_.log(prefix + "spec", cases_[i].spec);
            passed &= verdict(prefix, checked_call(input_of(cases_[i])), true);
        }
        return finish(passed);
    }

    // Times every case; ranked draws a fresh input for every repeat and checks every answer.
    int benchmark(bool ranked) {
        StopRule rule;
        if (ranked) rule.kernel_time = 30e9;
        report_.log("benchmark-count", cases_.size());
        if (!cases_.empty()) warm_up(cases_.front());
        bool passed = true;
        for (size_t i = 0; i < cases_.size() && (passed || !ranked); ++i) {
            const std::string prefix = "benchmark." + std::to_string(i) + ".";
            report_.log(prefix + "spec", cases_[i].spec);
            Stats stats;
            std::unique_ptr<TestReporter> answer = measure(cases_[i], rule, ranked, stats);
            if (answer->has_passed()) stats.log(report_, prefix);
            passed &= verdict(prefix, std::move(answer), false);
        }
        return finish(passed);
    }

    // Calls each case once inside a range named custom_kernel, after one call outside it that takes
    // the costs of a first call.
    int profile() {
        report_.log("benchmark-count", cases_.size());
        bool passed = true;
        for (size_t i = 0; i < cases_.size(); ++i) {
            const std::string prefix = "benchmark." + std::to_string(i) + ".";
            report_.log(prefix + "spec", cases_[i].spec);
            input_t data = input_of(cases_[i]);
            call(data);
            device_.begin_range();
            std::optional<output_t> output = call(data);
            device_.end_range();
            passed &= verdict(prefix, check(data, *output), false);
        }
        return finish(passed);
    }

private:
    input_t input_of(const Case& c) { return generate(&generate_input, ArgumentNames, c); }

    std::optional<output_t> call(const input_t& data) {
        device_.poison();
        std::optional<output_t> output(custom_kernel(input_t(data)));
        device_.synchronize();
        return output;
    }

    std::unique_ptr<TestReporter> check(const input_t& data, const output_t& output) {
        auto reporter = std::make_unique<TestReporter>();
        check_implementation(*reporter, data, output);
        if (!reporter->has_verdict()) {
            bad_spec("check_implementation must call pass() or fail() exactly once");
        }
        return reporter;
    }

    std::unique_ptr<TestReporter> checked_call(const input_t& data) {
        std::optional<output_t> output = call(data);
        return check(data, *output);
    }

    std::unique_ptr<TestReporter> measure(Case c, const StopRule& rule, bool ranked, Stats& stats) {
        input_t data = input_of(c);
        std::unique_ptr<TestReporter> answer = checked_call(data);
        const double begin = now_ns();
        while (answer->has_passed()) {
            if (ranked) data = next_input(c);
            std::optional<output_t> output;
            stats.add(timed_call(data, output));
            const bool last = rule.done(stats, now_ns() - begin);
            if (ranked || last) answer = check(data, *output);
            if (last) break;
        }
        return answer;
    }

    double timed_call(const input_t& data, std::optional<output_t>& output) {
        input_t own(data);
        device_.poison();
        device_.synchronize();
        poison_frees = false;
        device_.start();
        output.emplace(stopped(custom_kernel(std::move(own))));
        return device_.elapsed_ns();
    }

    // Stops the clock before the caller's full expression ends, and with it the life of the kernel's
    // argument: giving its memory back is not the kernel's time.
    output_t&& stopped(output_t&& output) {
        device_.stop();
        poison_frees = true;
        return std::move(output);
    }

    input_t next_input(Case& c) {
        if (const std::string* seed = c.find("seed")) {
            set_seed(c, (convert<int64_t>(c, "seed", *seed) + 13) % 2147483647);
        }
        return input_of(c);
    }

    // The first calls of a process pay for loading code and raising clocks.
    void warm_up(const Case& c) {
        input_t data = input_of(c);
        const double begin = now_ns();
        do {
            call(data);
        } while (now_ns() - begin < Device::warm_up_ns);
    }

    static void set_seed(Case& c, int64_t seed) {
        for (auto& [key, value] : c.arguments) {
            if (key == "seed") value = std::to_string(seed);
        }
    }

    bool verdict(const std::string& prefix, std::unique_ptr<TestReporter> answer, bool with_message) {
        const bool passed = answer->has_passed();
        if (!passed) report_.log(prefix + "error", answer->message());
        if (passed && with_message && !answer->message().empty()) report_.log(prefix + "message", answer->message());
        report_.log(prefix + "status", std::string(passed ? "pass" : "fail"));
        return passed;
    }

    int finish(bool passed) {
        report_.verdict(passed);
        return passed ? 0 : ExitCodes::EXIT_VALIDATE_FAIL;
    }

    std::vector<Case> cases_;
    Report report_;
    Device device_;
};

template <class Device>
int run_stage(const std::string& mode, const char* path) {
    std::optional<uint64_t> secret;
    if (const std::string text = take_seed(); !text.empty()) secret = std::strtoull(text.c_str(), nullptr, 10);
    Runner<Device> runner(read_cases(path), secret);
    if (mode == "test") return runner.test();
    if (mode == "benchmark") return runner.benchmark(false);
    if (mode == "leaderboard") return runner.benchmark(true);
    if (mode == "profile") return runner.profile();
    std::fprintf(stderr, "unknown mode '%s'\n", mode.c_str());
    return ExitCodes::EXIT_USAGE;
}

template <class Device>
int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s test|benchmark|leaderboard|profile FILE\n", argv[0]);
        return ExitCodes::EXIT_USAGE;
    }
    try {
        return run_stage<Device>(argv[1], argv[2]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "uncaught exception: %s\n", e.what());
        return 1;
    }
}

}  // namespace warpboard

// The whole program's heap, the submission's too, goes through release. nvcc takes operator new for
// a device function as well, and device code knows neither exceptions nor this heap.
#ifndef __CUDA_ARCH__
void* operator new(std::size_t size) {
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t align) {
    void* memory = nullptr;
    if (posix_memalign(&memory, static_cast<std::size_t>(align), size == 0 ? 1 : size) == 0) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { warpboard::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { warpboard::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { warpboard::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { warpboard::release(memory); }
#endif

#endif
