// The stages of a task, the same for C++ and CUDA. Include after task.h and the reference.
#ifndef WARPBOARD_JUDGE_H
#define WARPBOARD_JUDGE_H

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "warpboard_call.h"
#include "warpboard_clocks.h"
#include "warpboard_costs.h"
#include "warpboard_door.h"
#include "warpboard_own_runner.h"
#include "warpboard_report.h"

namespace warpboard {

// Judge runs cases and reports them. Own is the judge's own runner, which is null in untimed stages.
template <class Task, class Device, class Own>
class Judge {
public:
    Judge(Report& report, Device& device, Own* own, std::vector<Case> cases)
        : report_(report), device_(device), own_(own), cases_(std::move(cases)) {
        if (!take()) throw Gone{};
    }

    // Tests each case once with its seed, and at random a second time with another seed: the number of calls is
    // unpredictable.
    int test() {
        report_.log("test-count", cases_.size());
        bool passed = true;
        for (size_t i = 0; i < cases_.size(); ++i) {
            const std::string prefix = begin(i, "test.");
            Verdict verdict = call(cases_[i], false);
            if (verdict.passed) calls_->log_numerics(report_, prefix + "numerics.");
            if (verdict.passed && random_() % 2 == 1) {
                if (Verdict more = call(cases_[i], true); !more.passed) verdict = more;
            }
            passed &= log(prefix, verdict, true);
        }
        return finish(passed);
    }

    // Times every case. A ranked stage does so in each fresh process of the submission.
    int benchmark(bool ranked) {
        const StopRule rule = ranked ? Task::rule.of_one_process(Device::calls_of_one_process) : Task::rule;
        if (ranked) calls_->blame_answers();
        for (size_t process = 0;; ++process) {
            if (!measure_all(rule)) return finish(false);
            if (!ranked) break;
            report_.log("process", process);  // the process is reported completely
            if (!take()) break;
            calls_->blame_answers();
        }
        report_.verdict(true);
        return 0;
    }

    // Calls each case once inside a profiler range named custom_kernel, after a call outside the range that has the
    // costs of a first call.
    int profile() {
        report_.log("benchmark-count", cases_.size());
        bool passed = true;
        for (size_t i = 0; i < cases_.size(); ++i) {
            const std::string prefix = begin(i, "benchmark.");
            Verdict verdict = call(cases_[i], true);
            if (verdict.passed) verdict = call(cases_[i], true, CALL_RANGE);
            passed &= log(prefix, verdict, false);
        }
        return finish(passed);
    }

private:
    struct Timed {
        const Case& of;
        std::string prefix;
        CaseClocks clocks;
        std::vector<size_t> answer_parts;  // size of each part of the answer on the device, in bytes
        size_t answer;                     // total size of the answer's parts on the host, in bytes
    };

    // Takes the next runner, with new memory to share, and waits until it has loaded the submission. Returns false if
    // there is no other runner.
    bool take() {
        calls_.reset();
        runner_ = Door::next();
        if (!runner_) return false;
        calls_ = std::make_unique<Calls<Task, Device>>(runner_->session, device_);
        runner_->session.wait_ready();
        return true;
    }

    // Times every case with the current runner, up to the first wrong answer. It reports the times after the end of the
    // runner. Only then it measures the costs of empty calls on a device, which the submission could increase.
    bool measure_all(const StopRule& rule) {
        report_.log("benchmark-count", cases_.size());
        std::vector<Timed> timed;
        for (size_t i = 0; i < cases_.size(); ++i) {
            const std::string prefix = begin(i, "benchmark.");
            CaseClocks clocks(Device::bounds);
            const Verdict verdict = measure(cases_[i], rule, clocks);
            if (!verdict.passed) {
                for (size_t before = 0; before < i; ++before) log("benchmark." + std::to_string(before) + ".", {true, ""}, false);
                return log(prefix, verdict, false);
            }
            timed.push_back({cases_[i], prefix, std::move(clocks), calls_->answer_parts(), calls_->answer_on_host()});
        }
        Door::end(*runner_);
        for (Timed& one : timed) {
            if constexpr (!Device::released_on_host) {
                calls_->stand_in(*own_, one.of, one.answer_parts);
                costs().calibrate(one.clocks, Device::calibrations, skipped);
                calls_->end_stand_in();
            } else {
                costs().bound(one.clocks, one.of, one.answer);  // calls_ has this case's input from here on
            }
            one.clocks.log(report_, one.prefix);
            Task::passed(one.clocks.count().stats);
            log(one.prefix, {true, ""}, false);
        }
        return true;
    }

    std::string begin(size_t i, const char* kind) {
        const std::string prefix = kind + std::to_string(i) + ".";
        report_.log(prefix + "spec", cases_[i].spec);
        calls_->begin_case();
        return prefix;
    }

    Verdict call(const Case& c, bool fresh, uint32_t flags = 0) {
        Stamps stamps;
        return calls_->call(c, fresh, flags, stamps);
    }

    Costs<Calls<Task, Device>, Device, Own> costs() { return {*calls_, device_, *own_}; }

    Verdict measure(const Case& c, const StopRule& rule, CaseClocks& clocks) {
        const double begin = now_ns();
        Verdict verdict;
        for (uint32_t n = Task::untimed_calls(random_()); n > 0; --n) {
            verdict = call(c, true);
            if (!verdict.passed) return verdict;
        }
        if constexpr (Device::released_on_host) {
            calls_->overwrite_answer(*own_);
            costs().calibrate(clocks, Device::calibrations);
        }
        do {
            // Empty calls are measured between the timed ones, because other work on the machine changes the speed of
            // memory.
            if (Device::released_on_host && clocks.runs() % calls_between == calls_between - 1) costs().calibrate(clocks, 1);
            Stamps stamps;
            verdict = calls_->call(c, true, 0, stamps);
            if (!verdict.passed) return verdict;
            clocks.add(stamps);
        } while (!rule.done(clocks.raw(), now_ns() - begin));
        return verdict;
    }

    bool log(const std::string& prefix, const Verdict& verdict, bool with_message) {
        if (!verdict.passed) report_.log(prefix + "error", verdict.message);
        if (verdict.passed && with_message && !verdict.message.empty()) report_.log(prefix + "message", verdict.message);
        report_.log(prefix + "status", std::string(verdict.passed ? "pass" : "fail"));
        return verdict.passed;
    }

    int finish(bool passed) {
        runner_->session.end();
        if (!passed) Task::failed();
        report_.verdict(passed);
        return passed ? 0 : ExitCodes::EXIT_VALIDATE_FAIL;
    }

    static constexpr size_t calls_between = 4;  // timed calls per empty call of the judge's own runner
    static constexpr int skipped = 3;            // first calls of the judge's own runner, which do not count

    Report& report_;
    Device& device_;
    Own* own_;
    std::vector<Case> cases_;
    std::unique_ptr<HandedRunner> runner_;
    std::unique_ptr<Calls<Task, Device>> calls_;
    Random random_ = Random::fresh();
};

// Runs one stage. judge_main turns its exceptions into exit codes.
template <class Task, class Device, class RunnerDevice>
int run_stage(Report& report, const std::string& mode, const char* path) {
    const bool timed = mode == "benchmark" || mode == "leaderboard";
    if (!timed && mode != "test" && mode != "profile") {
        std::fprintf(stderr, "unknown mode '%s'\n", mode.c_str());
        return ExitCodes::EXIT_USAGE;
    }
    using Own = OwnRunner<RunnerDevice>;
    std::unique_ptr<Own> own;
    if (timed) own = std::make_unique<Own>();
    Waiter::sleep_exactly();
    std::vector<Case> cases = Task::cases(path);
    Device device;
    device.open();
    Judge<Task, Device, Own> judge(report, device, own.get(), std::move(cases));
    if (mode == "test") return judge.test();
    if (mode == "profile") return judge.profile();
    return judge.benchmark(mode == "leaderboard");
}

template <class Task, class Device, class RunnerDevice>
int judge_main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s test|benchmark|leaderboard|profile FILE\n", argv[0]);
        return ExitCodes::EXIT_USAGE;
    }
    Report report;
    try {
        const int code = run_stage<Task, Device, RunnerDevice>(report, argv[1], argv[2]);
        std::fflush(nullptr);
        return code;
    } catch (const Gone&) {
        return ExitCodes::EXIT_RUNNER_GONE;
    } catch (const Refused& refused) {
        report.log("refused", refused.sentence);
        return ExitCodes::EXIT_REFUSED;
    } catch (const TaskFailed& failed) {
        report.log("task", failed.sentence);
        return ExitCodes::EXIT_TASK_FAILED;
    } catch (const std::exception& e) {
        report.log("task", std::string("The judge failed: ") + e.what());
        return ExitCodes::EXIT_TASK_FAILED;
    }
}

}  // namespace warpboard

#endif
