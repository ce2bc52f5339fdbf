// Reports calls whose kernel takes 50 µs, as testdata/py/writing.py does. The arguments are pairs: the time to write an
// input, in µs, and its size, in MB; the first of our own runner's calls, the others of the case's calls in turn.
#include <cstdlib>

#include "warpboard_clocks.h"

using namespace warpboard;

static Stamps call(double event, const char* const* pair) {
    Stamps s;
    s.event = event, s.done = event + 12e3, s.sampled = event + 18e3, s.copied = event + 30e3, s.switched = 20e3;
    s.prepared = std::atof(pair[0]) * 1e3, s.written = std::atof(pair[1]) * 1e6, s.at_once = true;
    return s;
}

int main(int count, char** arguments) {
    CaseClocks clocks(Bounds{device_tolerance_ns, 4e3, device_handover_ns, 0.05, 0.5, 13e3, sampled_ns});
    for (int i = 0; i < 40; ++i) {
        clocks.calibrate(call(2e3, arguments + 1));
        clocks.add(call(50e3, arguments + 3 + 2 * (i % ((count - 3) / 2))));
    }
    Report report;
    clocks.log(report, "");
}
