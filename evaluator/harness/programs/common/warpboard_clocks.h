// The three clocks of a case, and which of them counts.
#ifndef WARPBOARD_CLOCKS_H
#define WARPBOARD_CLOCKS_H

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "warpboard_limits.h"
#include "warpboard_report.h"
#include "warpboard_session.h"

namespace warpboard {

inline double quantile(std::vector<double> samples, double q) {
    if (samples.empty()) return 0;
    std::sort(samples.begin(), samples.end());
    return Stats::quantile(samples, q);
}

// When to stop repeating a case: as KernelBot's programs do, in nanoseconds.
struct StopRule {
    size_t least = least_calls;
    size_t most = most_calls;
    double error = call_error;
    double kernel_time = case_kernel_ns;
    double wall_time = case_wall_ns;

    // The rule for one of the fresh processes that measure a score, with so many calls at the most; five take about as
    // long as one by the rule itself.
    StopRule of_one_process(size_t calls) const {
        return {least, std::max(least, std::min(most, calls)), error, std::max(kernel_time, 30e9) / 5, wall_time / 5};
    }

    bool done(const Stats& stats, double wall) const {
        if (stats.runs() >= most) return true;
        if (stats.runs() < least) return false;
        return stats.err() < error * stats.mean() || stats.total() > kernel_time || wall > wall_time;
    }
};

// What a call costs that does nothing: the median, unless other such calls were much quicker.
struct Constant {
    double ns;
    double median;
    double spread;  // interquartile range
    double tolerance;

    // Most bounds it, and share is that of its time by which it may vary.
    Constant(const std::vector<double>& samples, const Bounds& bounds, double most, double share_of_time) {
        const double quick = quantile(samples, 0.1), share = std::min(share_of_time * quick, most);
        median = quantile(samples, 0.5);
        ns = std::min({median, quick + std::max(bounds.tolerance, share), most});
        spread = quantile(samples, 0.75) - quantile(samples, 0.25);
        tolerance = std::clamp(2 * spread, bounds.tolerance, std::max(bounds.most_tolerance, share));
    }
};

// CaseClocks takes what was seen of a case's calls and of the judge's own runner, and says how long a call
// took: by the runner's clock, by the judge's from release to end, and by the judge's until it has the answer.
// The largest median counts, those of the judge less a tolerance. On a GPU a sample of the answer shows whether that was there at
// the end; how much later than usual it was taken is added to both of the judge's.
class CaseClocks {
public:
    explicit CaseClocks(const Bounds& bounds) : bounds_(bounds) {}

    void calibrate(const Stamps& call) {
        own_.push_back(call);
        own_told_ = quantile(own([](const Stamps& s, double) { return s.released - s.told; }), 0.25);
    }
    void add(const Stamps& call) { calls_.push_back(call), raw_.add(call.done - call.released); }

    // The descriptions of the case's inputs differ and tell something before the release: calls begin when
    // they are told of.
    void begin_when_told() { told_ = true; }
    bool begins_when_told() const { return told_; }

    size_t runs() const { return calls_.size(); }

    // From release to end, nothing subtracted.
    const Stats& raw() const { return raw_; }

    // What counts so far.
    struct Count {
        const char* clock;
        double tolerance;
        Stats stats;
    };
    Count count() const {
        const Times t = times();
        const double event = median(t.events), wall = quantile(t.counted_walls, bounds_.quantile),
                     snapshot = quantile(t.counted_snapshots, bounds_.quantile);
        if (snapshot > wall && (snapshot > event || by_judge())) return {"snapshot", t.snapshot_cost.tolerance, Stats(t.counted_snapshots)};
        if (wall > event || by_judge() || uneven(t, event)) return {"wall", t.wall_cost.tolerance, Stats(t.counted_walls)};
        return {"event", t.wall_cost.tolerance, Stats(t.events)};
    }

    // What a call of nothing costs at most on a host, by how much that varies, and how long its release takes after it is told of:
    // measured when nothing of the submission was left that could make it longer, or uneven. Mapping an input of the case and copying
    // an answer may take so long.
    void bound(const Constant& handover, double told, double mapping, double copying) {
        own_told_ = std::min(own_told_, told);
        most_mapping_ = mapping;
        most_copying_ = copying;
        most_handover_ = handover.median + bounds_.tolerance;
        most_tolerance_ = std::max(bounds_.tolerance, 2 * handover.spread);
    }

    void log(Report& report, const std::string& prefix) const {
        const Times t = times();
        const Count counted = count();
        counted.stats.log(report, prefix);
        report.log(prefix + "clock", std::string(counted.clock));
        report.log(prefix + "event", median(t.events));
        report.log(prefix + "wall", median(t.walls));
        report.log(prefix + "snapshot", median(t.snapshots));
        report.log(prefix + "events", Report::list(t.events));
        report.log(prefix + "walls", Report::list(t.walls));
        report.log(prefix + "snapshots", Report::list(t.snapshots));
        report.log(prefix + "late", t.late);
        report.log(prefix + "switched", quantile(each(calls_, [](const Stamps& s, double) { return s.switched; }), 0.5));
        report.log(prefix + "tolerance", counted.tolerance);
        report.log(prefix + "handover", t.wall_cost.ns);
    }

private:
    static constexpr double no_bound = 1e18;
    static constexpr double uneven_share = 0.03;


    // The machine was busy while calls of nothing were timed, if the submission's were quicker. One that only seems
    // to end early makes the constant smaller, and so its own time longer.
    Constant no_more_than(const std::vector<double>& raw, Constant cost) const {
        if (!raw.empty()) cost.ns = std::min(cost.ns, std::max(quantile(raw, 0.1), 0.0));
        return cost;
    }

    bool by_judge() const { return !calls_.empty() && calls_.front().by_judge; }

    // How long handing a call over takes.
    Constant handover() const {
        const std::vector<double> samples = own([](const Stamps& s, double) { return s.done - s.released - s.event; });
        const double most = most_handover();
        Constant cost(samples, bounds_, most, 0);
        // Of which quicker calls are compared, a quantile is subtracted that is as quick.
        if (bounds_.quantile < 0.5) cost.ns = std::min(quantile(samples, bounds_.quantile), most);
        cost.tolerance = std::min(cost.tolerance, most_tolerance_);
        return no_more_than(each(calls_, [](const Stamps& s, double begin) { return s.done - begin; }), since_told(cost));
    }

    double most_handover() const { return std::min(bounds_.most_handover + most_mapping_, most_handover_); }

    // A cost with the time from when our own runner is told of a call to its release, if calls begin then.
    Constant since_told(Constant cost) const {
        if (told_) cost.ns += own_told_, cost.median += own_told_;
        return cost;
    }

    // How long it takes until the answer has been copied, too.
    Constant snapshot_cost() const {
        return no_more_than(each(calls_, [](const Stamps& s, double begin) { return s.copied - begin; }),
                            since_told({own([](const Stamps& s, double) { return s.copied - s.released - s.event; }), bounds_, most_handover() + most_copying_, bounds_.share}));
    }

    struct Times {
        std::vector<double> events, walls, snapshots, counted_walls, counted_snapshots;
        Constant wall_cost, snapshot_cost;
        size_t late = 0;
    };

    // Whether half of the calls took longer than the runner's clock says, though a quarter did not. A kernel whose time depends on its
    // input could else report for all calls what a quarter takes. How uneven calls of nothing are is the machine's.
    bool uneven(const Times& t, double event) const {
        const double wall = median(t.counted_walls), noise = std::clamp(t.wall_cost.median - t.wall_cost.ns, 0.0, std::min(bounds_.most_tolerance, most_tolerance_));
        return wall - noise - uneven_share * wall > event;
    }

    Times times() const {
        Times t{{}, {}, {}, {}, {}, handover(), snapshot_cost()};
        const double prepared = quantile(own([](const Stamps& s, double) { return s.prepared; }), 0.25),
                     switched = quantile(own(of_gate), 0.5), sampled = quantile(own(of_sample), 0.5),
                     late_gate = std::max(quantile(each(calls_, of_gate), 0.5) - switched - middle_switch_ns, 0.0),
                     late_sample = std::max(quantile(each(calls_, of_sample), 0.5) - sampled - middle_sample_ns, 0.0);
        for (const Stamps& call : calls_) {
            // What another context had of the device between the first byte of the input and the end of the hold counts, and for
            // how much longer than usual a gate did not say that it ran, or there was no sample.
            const double usual_turn = call.at_once ? turn_ns : slow_turn_ns;
            const double turns = (call.prepared > prepared + usual_turn ? call.prepared - prepared : 0) +
                                 std::max(call.switched - switched - switch_ns, late_gate) +
                                 std::max(of_sample(call, 0) - sampled - sample_ns, late_sample);
            const double w = call.done - begin(call) - t.wall_cost.ns + turns;
            const double s = call.copied - begin(call) - t.snapshot_cost.ns + turns;
            t.walls.push_back(w);
            t.snapshots.push_back(s);
            t.events.push_back(least(by_judge() ? w : call.event));
            t.counted_walls.push_back(least(by_judge() ? w : w - t.wall_cost.tolerance));
            t.late += call.late;
        }
        const double after = after_done(t);
        for (double s : t.snapshots) t.counted_snapshots.push_back(least(s + after));
        return t;
    }

    // What to add to the snapshots: less a tolerance where they agree with the wall clock. Where they do not, the device
    // still worked when the runner said "done", and a part of that cannot be seen. Copying an answer takes up to 12 us more in one
    // process than in the next: where a sample was taken in every call, most work that was hidden so would be seen in it.
    double after_done(const Times& t) const {
        const bool sampled = std::all_of(calls_.begin(), calls_.end(), [](const Stamps& s) { return s.sampled > s.done; });
        const double tolerance = sampled ? std::max(t.snapshot_cost.tolerance, device_copy_tolerance_ns) : t.snapshot_cost.tolerance;
        const double apart = median(t.snapshots) - median(t.walls);
        return bounds_.hidden > 0 && apart > (sampled ? std::max(tolerance, bounds_.sampled) : tolerance) ? bounds_.hidden : -tolerance;
    }

    static double of_gate(const Stamps& s, double) { return s.switched; }
    static double of_sample(const Stamps& s, double) { return s.sampled - s.done; }

    template <class Of>
    std::vector<double> own(Of of) const {
        return each(own_, of);
    }

    template <class Of>
    std::vector<double> each(const std::vector<Stamps>& calls, Of of) const {
        std::vector<double> samples;
        for (const Stamps& stamps : calls) samples.push_back(of(stamps, begin(stamps)));
        return samples;
    }

    // A runner that has the release sooner than ours after it was told of the call saves nothing by that: from the release on,
    // its time is its own.
    double begin(const Stamps& stamps) const { return told_ ? std::min(stamps.told, stamps.released - own_told_) : stamps.released; }
    static double least(double ns) { return std::max(ns, 1.0); }
    static double median(const std::vector<double>& values) { return quantile(values, 0.5); }

    Bounds bounds_;
    bool told_ = false;
    double own_told_ = 0;  // from the description of our own runner's call to its release
    Stats raw_;
    double most_handover_ = no_bound;
    double most_mapping_ = 0;
    double most_copying_ = no_bound;
    double most_tolerance_ = no_bound;
    std::vector<Stamps> own_;
    std::vector<Stamps> calls_;
};

}  // namespace warpboard

#endif
