// What a call costs that does nothing: calls of the judge's own runner.
#ifndef WARPBOARD_COSTS_H
#define WARPBOARD_COSTS_H

#include <vector>

#include "warpboard_cases.h"
#include "warpboard_clocks.h"
#include "warpboard_session.h"

namespace warpboard {

// Costs measures beside a submission (calibrate), and what bounds that when the submission is gone (the others).
template <class Calls, class Device, class Own>
class Costs {
public:
    Costs(Calls& calls, Device& device, Own& own) : calls_(calls), device_(device), own_(own) {}

    // Adds so many calls with the case's last input and answer: before the timed calls, and again between them, as how quick
    // memory is changes with what else a machine does.
    void calibrate(CaseClocks& clocks, int calls) {
        for (int i = 0; i < calls; ++i) clocks.calibrate(call_with_input([this] { calls_.copy(); }));
    }

    // How long handing a call over takes, without any input or answer.
    Constant handover() {
        CaseClocks clocks(Device::bounds);
        for (int i = 0; i < Device::calibrations + skipped; ++i) {
            const Stamps own = call_without_input([] {});
            if (i >= skipped) clocks.calibrate(own);
        }
        return clocks.handover();
    }

    // How long it takes with the copy of an answer of so many bytes.
    double snapshot(size_t bytes) {
        void* from = device_.borrow(bytes);
        void* into = device_.borrow(bytes);
        std::vector<double> times;
        for (int i = 0; i < Device::calibrations / 2 + skipped; ++i) {
            const Stamps own = call_without_input([&] { calls_.copy(into, from, bytes); });
            if (i >= skipped) times.push_back(own.copied - own.released - own.event);
        }
        device_.give_back(from, bytes);
        device_.give_back(into, bytes);
        return quantile(times, 0.5);
    }

    // How long writing an input of the case takes while nobody else uses the device.
    double writing(const Case& c) {
        calls_.draw_another(c);
        std::vector<double> times;
        for (int i = 0; i < Device::calibrations / 4 + skipped; ++i) {
            const Stamps own = call_with_input([] {});
            if (i >= skipped) times.push_back(own.prepared);
        }
        return quantile(times, 0.5);
    }

    // How long handing an input of the case over takes on a host when nothing of the submission is left.
    Constant handover(const Case& c) {
        calls_.begin_case();
        calls_.draw_another(c);
        calls_.overwrite_answer(own_);
        std::vector<double> times;
        for (int i = 0; i <= Device::calibrations / 2; ++i) {
            const Stamps own = call_with_input([] {});
            if (i > 0) times.push_back(own.done - own.released - own.event);
        }
        return {times, Device::bounds, 1e18, 0};
    }

private:
    template <class Copy>
    Stamps call_with_input(Copy copy) {
        const auto prepare = [this] {
            calls_.prepare();
            return calls_.host_inputs();
        };
        return call(prepare, copy);
    }

    template <class Copy>
    Stamps call_without_input(Copy copy) {
        const auto prepare = [this] {
            device_.begin_writing({});
            device_.flush();
            device_.hold();
            return calls_.host_inputs();
        };
        return call(prepare, copy);
    }

    template <class Prepare, class Copy>
    Stamps call(Prepare prepare, Copy copy) {
        Stamps own = own_.call(prepare, device_, copy);
        own.prepared = device_.writing_took();
        if (Device::switches_in_call) own.event = 0;  // it has the switch in it, which is no call's time
        return own;
    }

    static constexpr int skipped = 3;  // first calls of our own runner

    Calls& calls_;
    Device& device_;
    Own& own_;
};

}  // namespace warpboard

#endif
