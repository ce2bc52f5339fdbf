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
#include "warpboard_own_runner.h"
#include "warpboard_report.h"

namespace warpboard {

// Judge runs cases and reports them. Own is null in stages that take no time.
template <class Task, class Device, class Own>
class Judge {
public:
    Judge(Report& report, Device& device, Session& session, Own* own, std::vector<Case> cases)
        : report_(report), device_(device), session_(session), own_(own), cases_(std::move(cases)), calls_(session, device) {}

    // One call of each case as it is, and perhaps one more: their number is not to be foreseen.
    int test() {
        session_.wait_ready();
        report_.log("test-count", cases_.size());
        bool passed = true;
        for (size_t i = 0; i < cases_.size(); ++i) {
            const std::string prefix = begin(i, "test.");
            Verdict verdict = call(cases_[i], false);
            if (verdict.passed && random_() % 2 == 1) {
                if (Verdict more = call(cases_[i], true); !more.passed) verdict = more;
            }
            passed &= log(prefix, verdict, true);
        }
        return finish(passed);
    }

    // Times every case; ranked stops at the first that is wrong.
    int benchmark(bool ranked) {
        StopRule rule = Task::rule;
        if (ranked) rule.kernel_time = std::max(rule.kernel_time, 30e9);
        log_handover();
        session_.wait_ready();
        report_.log("benchmark-count", cases_.size());
        bool passed = true;
        for (size_t i = 0; i < cases_.size() && (passed || !ranked); ++i) {
            const std::string prefix = begin(i, "benchmark.");
            CaseClocks clocks(Device::bounds);
            const Verdict verdict = measure(cases_[i], rule, clocks);
            if (verdict.passed) clocks.log(report_, prefix);
            if (verdict.passed) Task::passed(clocks.count().stats);
            passed &= log(prefix, verdict, false);
        }
        return finish(passed);
    }

    // Calls each case once inside a range named custom_kernel, after one call outside it that takes
    // the costs of a first call.
    int profile() {
        session_.wait_ready();
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
    std::string begin(size_t i, const char* kind) {
        const std::string prefix = kind + std::to_string(i) + ".";
        report_.log(prefix + "spec", cases_[i].spec);
        calls_.begin_case();
        return prefix;
    }

    Verdict call(const Case& c, bool fresh, uint32_t flags = 0) {
        Stamps stamps;
        return calls_.call(c, fresh, flags, stamps);
    }

    template <class Prepare, class Copy>
    Stamps call_own(Prepare prepare, Copy copy) {
        Stamps own = own_->call(prepare, copy);
        if (Device::switches_in_call) own.event = 0;  // it has the switch in it, which is no call's time
        return own;
    }

    // How long handing a call over takes, without any input or answer.
    void log_handover() {
        CaseClocks clocks(Device::bounds);
        const auto prepare = [this] { device_.flush(), device_.wait(); };
        for (int i = 0; i < Device::calibrations + skipped; ++i) {
            const Stamps own = call_own(prepare, [] {});
            if (i >= skipped) clocks.calibrate(own);
        }
        const Constant handover = clocks.handover();
        report_.log("clock.handover", handover.ns);
        report_.log("clock.spread", handover.spread);
    }

    // Before the timed calls, and again between them: how quick memory is changes with what else a machine does.
    void calibrate(CaseClocks& clocks, int calls) {
        for (int i = 0; i < calls; ++i) {
            clocks.calibrate(call_own([this] { calls_.prepare(); }, [this] { calls_.copy(); }));
        }
    }

    Verdict measure(const Case& c, const StopRule& rule, CaseClocks& clocks) {
        const double begin = now_ns();
        Verdict verdict;
        for (uint32_t n = Task::untimed_calls(random_()); n > 0; --n) {
            verdict = call(c, true);
            if (!verdict.passed) return verdict;
        }
        calls_.overwrite_answer(*own_);
        calibrate(clocks, Device::calibrations);
        do {
            if (clocks.runs() % calls_between == calls_between - 1) calibrate(clocks, 1);
            Stamps stamps;
            verdict = calls_.call(c, true, 0, stamps);
            if (!verdict.passed) return verdict;
            if (calls_.told_early()) clocks.begin_when_told();
            clocks.add(stamps);
        } while (!rule.done(clocks.count().stats, now_ns() - begin));
        if (!Device::released_on_host && clocks.impossible()) {
            throw Refused{"The submission's process said that calls had ended before the device can have begun them."};
        }
        return verdict;
    }

    bool log(const std::string& prefix, const Verdict& verdict, bool with_message) {
        if (!verdict.passed) report_.log(prefix + "error", verdict.message);
        if (verdict.passed && with_message && !verdict.message.empty()) report_.log(prefix + "message", verdict.message);
        report_.log(prefix + "status", std::string(verdict.passed ? "pass" : "fail"));
        return verdict.passed;
    }

    int finish(bool passed) {
        session_.end();
        if (!passed) Task::failed();
        report_.verdict(passed);
        return passed ? 0 : ExitCodes::EXIT_VALIDATE_FAIL;
    }

    static constexpr int skipped = 3;            // first calls of our own runner
    static constexpr size_t calls_between = 4;   // timed calls for each of our own runner

    Report& report_;
    Device& device_;
    Session& session_;
    Own* own_;
    std::vector<Case> cases_;
    Calls<Task, Device> calls_;
    Random random_ = Random::fresh();
};

// Runs one stage; its exceptions are ends that the site knows.
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
    Session session(channel_fd, page_fd);
    Device device;
    device.open();
    Judge<Task, Device, Own> judge(report, device, session, own.get(), std::move(cases));
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
