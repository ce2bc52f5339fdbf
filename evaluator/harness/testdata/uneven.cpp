// Prints which clock counts for a kernel that takes 50 or 150 µs, depending on its input, and for calls that a busy machine makes uneven.
#include <cstdio>

#include "warpboard_clocks.h"

using warpboard::Bounds;
using warpboard::CaseClocks;
using warpboard::Stamps;

constexpr Bounds host{2e3, 20e3, 20e3, 1.0, 0.25, 0, 0};

Stamps call(double event, double more) {
    Stamps s;
    s.event = event;
    s.done = s.sampled = event + more;
    s.copied = s.done + 1e3;
    return s;
}

void count(const char* name, double claim, double noise) {
    CaseClocks clocks(host);
    for (int i = 0; i < 10; ++i) clocks.calibrate(call(0, 2e3 + i % 2 * noise));
    for (int i = 0; i < 12; ++i) {
        const double took = i % 3 ? 150e3 : 50e3;
        Stamps s = call(took, 2e3 + i % 2 * noise);
        if (claim > 0) s.event = claim;
        clocks.add(s);
    }
    const auto counted = clocks.count();
    std::printf("%s: %s, %.0f µs on average\n", name, counted.clock, counted.stats.mean() / 1e3);
}

int main() {
    count("a quarter", 51e3, 0);
    count("honest", 0, 0);
    count("honest on a busy machine", 0, 10e3);
}
