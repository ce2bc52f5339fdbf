// Which clock counts of a device's calls, and what by it they take. Times in µs; a call of nothing takes 15 from release to
// done, 400 until the answer is taken, and 150 until its gate runs.
#include <cstdio>
#include <cstring>

#include "warpboard_clocks.h"

using namespace warpboard;

static int failures = 0;

struct Seen {
    double event, wall, snapshot, switched = 150, prepared = 50;
    bool late = false, by_judge = false;
    double described = 0;  // before the release; 0 where the clock begins with that
};

static void expect(const char* what, Seen seen, const char* clock, double least, double most) {
    CaseClocks clocks(Bounds{3e3, 6e3, 60e3, 0.05, 0.5, 13e3});
    const auto stamps = [](double event, double done, double copied, double switched, double prepared) {
        Stamps s;
        s.released = 1e6, s.done = 1e6 + done * 1e3, s.copied = 1e6 + copied * 1e3;
        s.event = event * 1e3, s.switched = switched * 1e3, s.prepared = prepared * 1e3;
        s.described = s.released;
        return s;
    };
    for (int i = 0; i < 20; ++i) {
        Stamps own = stamps(2, 17, 402, 150, 50);
        if (seen.described > 0) own.described -= 1e6;
        clocks.calibrate(own);
        Stamps call = stamps(seen.event, 15 + seen.wall, 400 + seen.snapshot, seen.switched, seen.prepared);
        call.late = seen.late, call.by_judge = seen.by_judge, call.described -= seen.described * 1e3;
        call.at_description = seen.described > 0;
        clocks.add(call);
    }
    const CaseClocks::Count count = clocks.count();
    const double us = count.stats.mean() / 1e3;
    if (std::strcmp(count.clock, clock) == 0 && us >= least && us <= most) return;
    std::printf("%s: %s says %.1f us, want %s and %.1f to %.1f\n", what, count.clock, us, clock, least, most);
    ++failures;
}

// A case of a host whose descriptions first differ in the last call. Until then, the judge flushes caches for 6 ms
// between description and release, which is not the kernel's time.
static void expect_no_flush() {
    const Bounds bounds{2e3, 20e3, 20e3, 1, 0.25, 0, 0};
    CaseClocks clocks(bounds);
    const auto call = [](double described, double event, bool at_description) {
        Stamps s;
        s.released = 1e9, s.described = s.released - described, s.at_description = at_description;
        s.event = event, s.done = s.sampled = s.released + event + 10e3, s.copied = s.done + 5e3;
        return s;
    };
    for (int i = 0; i < 11; ++i) clocks.calibrate(call(6e6, 0, false)), clocks.add(call(6e6, 100e3, false));
    clocks.add(call(20e3, 100e3, true));
    clocks.bound({std::vector<double>(5, 10e3), bounds, 1e18, 0}, 20e3, 0, 100e3);
    const CaseClocks::Count count = clocks.count();
    if (count.stats.mean() == 100e3) return;
    std::printf("told of early in the last call: %s says %.1f us, want 100\n", count.clock, count.stats.mean() / 1e3);
    ++failures;
}

int main() {
    expect_no_flush();
    expect("honest", {100, 101, 101}, "event", 100, 100);
    expect("short", {3, 4, 4}, "event", 3, 3);
    expect("claims a microsecond", {1, 100, 100}, "wall", 97, 100);
    expect("done too early", {1, 1, 100}, "snapshot", 100, 113);  // what cannot be seen after "done" is added
    expect("done at once", {1, -14, 100}, "snapshot", 100, 130);
    expect("waits on the host", {100, 101, 101, 150, 50, true}, "event", 100, 100);
    expect("a gate that says late that it runs", {100, 100, 100, 260}, "wall", 200, 206);
    expect("a gate that comes late in the middle call", {100, 100, 100, 158}, "wall", 100, 104);
    expect("a gate within what is usual", {100, 100, 100, 153}, "event", 100, 100);
    expect("a turn while the input was written", {100, 100, 100, 150, 200}, "wall", 247, 250);
    expect("no clock of its own", {100, 80, 80, 150, 50, false, true}, "wall", 80, 80);
    expect("told of as long before the release as our own", {1, 100, 100, 150, 50, false, false, 1000}, "wall", 97, 100);
    expect("told of for longer", {100, 100, 100, 150, 50, false, false, 1200}, "wall", 297, 300);
    expect("told of for less", {1, 100, 100, 150, 50, false, false, 700}, "wall", 97, 100);
    return failures;
}
