// The cost of an empty call, measured by the judge's own runner.
#ifndef WARPBOARD_COSTS_H
#define WARPBOARD_COSTS_H

#include <vector>

#include "warpboard_cases.h"
#include "warpboard_clocks.h"
#include "warpboard_session.h"

namespace warpboard {

// Costs measures calls of the judge's own runner with the current input and answer of calls.
template <class Calls, class Device, class Own>
class Costs {
public:
    Costs(Calls& calls, Device& device, Own& own) : calls_(calls), device_(device), own_(own) {}

    // Makes calls of the judge's own runner, and adds their times to clocks, except the first skipped ones.
    void calibrate(CaseClocks& clocks, int calls, int skipped = 0) {
        for (int i = 0; i < calls + skipped; ++i) {
            const Stamps stamps = call();
            if (i >= skipped) clocks.calibrate(stamps);
        }
    }

    // Limits the constants of clocks on a host: by the time to pass an input of the case to the judge's own runner
    // after the submission has ended, and by the longest time to copy an answer of this many bytes.
    void bound(CaseClocks& clocks, const Case& c, size_t answer) {
        calls_.begin_case(clocks.starts_at_description());
        calls_.stand_in(own_, c, {});
        std::vector<double> times, described;
        for (int i = 0; i <= Device::calibrations / 2; ++i) {
            const Stamps own = call();
            if (i == 0) continue;
            times.push_back(own.done - own.released - own.event);
            described.push_back(own.released - own.described);
        }
        clocks.bound({times, Device::bounds, 1e18, 0}, quantile(described, 0.25), calls_.most_mapping(), Device::bounds.most_handover + static_cast<double>(answer));
    }

private:
    Stamps call() {
        const auto prepare = [this](uint32_t number) {
            calls_.prepare(number, true);
            return calls_.host_inputs();
        };
        Stamps own;
        calls_.or_abandon([&] {
            own = own_.call(calls_.choose_sealed(), calls_.prepares_first(), prepare, device_, [this](Stamps& stamps) { calls_.copy(stamps); });
        });
        own.prepared = device_.writing_took();
        own.written = calls_.written();
        own.at_once = device_.at_once();
        // it includes the switch of contexts, which is not the kernel's time
        if (Device::switches_in_call) own.event = 0;
        return own;
    }

    Calls& calls_;
    Device& device_;
    Own& own_;
};

}  // namespace warpboard

#endif
