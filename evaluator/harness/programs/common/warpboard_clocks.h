// The three clocks of a case, and the choice of the clock that counts.
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

// StopRule ends the repetitions of a case as KernelBot's programs do. Times are in nanoseconds.
struct StopRule {
    size_t least = least_calls;
    size_t most = most_calls;
    double error = call_error;
    double kernel_time = case_kernel_ns;
    double wall_time = case_wall_ns;

    // Returns the rule for one of the fresh processes that measure a score. Five such processes take about as long as
    // one process that follows this object's rule.
    StopRule of_one_process(size_t calls) const {
        return {least, std::max(least, std::min(most, calls)), error, std::max(kernel_time, 30e9) / 5, wall_time / 5};
    }

    bool done(const Stats& stats, double wall) const {
        if (stats.runs() >= most) return true;
        if (stats.runs() < least) return false;
        return stats.err() < error * stats.mean() || stats.total() > kernel_time || wall > wall_time;
    }
};

// Constant is the cost of an empty call in nanoseconds: the median of the measured calls, or less if some of them were
// much quicker.
struct Constant {
    double ns;
    double median;
    double spread;  // interquartile range of the measured costs
    double tolerance;

    // most limits the cost, in nanoseconds. share_of_time limits its variation, as a fraction of the cost.
    Constant(const std::vector<double>& samples, const Bounds& bounds, double most, double share_of_time) {
        const double quick = quantile(samples, 0.1), share = std::min(share_of_time * quick, most);
        median = quantile(samples, 0.5);
        ns = std::min({median, quick + std::max(bounds.tolerance, share), most});
        spread = quantile(samples, 0.75) - quantile(samples, 0.25);
        tolerance = std::clamp(2 * spread, bounds.tolerance, std::max(bounds.most_tolerance, share));
    }
};

// CaseClocks computes the time of a case from its calls and from calls of the judge's own runner. It has three clocks:
// the runner's, the judge's from release to end, and the judge's from release to the copied answer. The largest median
// counts, after tolerances for the judge's clocks. On a GPU a sample shows whether the answer was there at the end; its
// delay beyond the usual one is added to both of the judge's clocks.
class CaseClocks {
public:
    explicit CaseClocks(const Bounds& bounds) : bounds_(bounds) {}

    void calibrate(const Stamps& call) {
        own_.push_back(call);
        own_described_ = quantile(own([](const Stamps& s, double) { return s.released - s.described; }), 0.25);
    }
    void add(const Stamps& call) {
        calls_.push_back(call), raw_.add(call.done - call.released);
        at_description_ |= call.at_description;
    }

    // Reports whether the clock of some calls starts with the description: descriptions that differ from call to call
    // reveal something about the input before the release.
    bool starts_at_description() const { return at_description_; }

    size_t runs() const { return calls_.size(); }

    // Returns the durations from release to end, with nothing subtracted.
    const Stats& raw() const { return raw_; }

    // Count has the clock that counts, its tolerance in nanoseconds, and the times of the calls by it.
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

    // Limits, on a host, the cost of an empty call, its variation, and the time from description to release. The limits
    // were measured after the end of the submission, which could otherwise increase them. mapping and copying are the
    // longest times to map an input of the case and to copy an answer, in nanoseconds.
    void bound(const Constant& handover, double described, double mapping, double copying) {
        own_described_ = std::min(own_described_, described);
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


    // Limits the cost of empty calls by the quickest calls of the submission: if those were quicker than empty calls,
    // the machine was busy during the empty ones. A call that falsely reports its end early lowers the constant, which
    // makes its own time longer.
    Constant no_more_than(const std::vector<double>& raw, Constant cost) const {
        if (!raw.empty()) cost.ns = std::min(cost.ns, std::max(quantile(raw, 0.1), 0.0));
        return cost;
    }

    bool by_judge() const { return !calls_.empty() && calls_.front().by_judge; }

    // Returns the cost of an empty call from release to "done".
    Constant handover() const {
        const std::vector<double> samples = own([](const Stamps& s, double) { return s.done - s.released - s.event; });
        const double most = most_handover();
        Constant cost(samples, bounds_, most, 0);
        // If the clock uses a low quantile of the calls, the same quantile of the empty calls is subtracted.
        if (bounds_.quantile < 0.5) cost.ns = std::min(quantile(samples, bounds_.quantile), most);
        cost.tolerance = std::min(cost.tolerance, most_tolerance_);
        return no_more_than(each(calls_, [](const Stamps& s, double begin) { return s.done - begin; }), since_description(cost));
    }

    double most_handover() const { return std::min(bounds_.most_handover + most_mapping_, most_handover_); }

    // Adds the usual time from description to release in the judge's own runner, if the clock of some calls starts with
    // the description.
    Constant since_description(Constant cost) const {
        if (at_description_) cost.ns += own_described_, cost.median += own_described_;
        return cost;
    }

    // Returns the cost of an empty call from release until the judge has copied its answer.
    Constant snapshot_cost() const {
        return no_more_than(each(calls_, [](const Stamps& s, double begin) { return s.copied - begin; }),
                            since_description({own([](const Stamps& s, double) { return s.copied - s.released - s.event; }), bounds_, most_handover() + most_copying_, bounds_.share}));
    }

    struct Times {
        std::vector<double> events, walls, snapshots, counted_walls, counted_snapshots;
        Constant wall_cost, snapshot_cost;
        size_t late = 0;
    };

    // Reports whether the median call took clearly longer by the judge's clock than the runner reports. A kernel whose
    // time depends on its input could otherwise report the time of its fastest quarter for all calls. The variation of
    // empty calls is subtracted, because the machine causes it.
    bool uneven(const Times& t, double event) const {
        const double wall = median(t.counted_walls), noise = std::clamp(t.wall_cost.median - t.wall_cost.ns, 0.0, std::min(bounds_.most_tolerance, most_tolerance_));
        return wall - noise - uneven_share * wall > event;
    }

    // Returns the nanoseconds by which each further byte of an input may prolong its writing: the least share of a byte
    // in the time to write an input, which is the most exact for the largest input. Calls of the submission can only
    // reduce it.
    double byte_ns() const {
        double least = written_byte_ns;
        for (const auto* calls : {&own_, &calls_}) {
            for (const Stamps& call : *calls) {
                if (call.written > 0) least = std::min(least, call.prepared / call.written);
            }
        }
        return least;
    }

    Times times() const {
        Times t{{}, {}, {}, {}, {}, handover(), snapshot_cost()};
        const double prepared = quantile(own([](const Stamps& s, double) { return s.prepared; }), 0.25),
                     written = quantile(own([](const Stamps& s, double) { return s.written; }), 0.25), byte = byte_ns(),
                     switched = quantile(own(of_gate), 0.5), sampled = quantile(own(of_sample), 0.5),
                     late_gate = std::max(quantile(each(calls_, of_gate), 0.5) - switched - middle_switch_ns, 0.0),
                     late_sample = std::max(quantile(each(calls_, of_sample), 0.5) - sampled - middle_sample_ns, 0.0);
        for (const Stamps& call : calls_) {
            // Three delays are added to a call: a time slice of another context while the judge keeps the device, and
            // unusual delays of the gate's report and of the answer's sample.
            const double excess = call.prepared - prepared - byte * std::max(call.written - written, 0.0);
            const double turns = (excess > (call.at_once ? turn_ns : slow_turn_ns) ? excess : 0) +
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

    // Returns the correction of the snapshot times in nanoseconds: minus a tolerance if they agree with the wall clock.
    // If they do not, the device still worked after "done", and the correction adds the part of this work that the
    // judge cannot observe. Copying an answer takes up to 12 us more in one process than in the next. If every call has
    // a sample of its answer, a larger difference is allowed: samples show most work of this kind.
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

    // Returns the start of a call's clock. If the clock of some calls starts with the description, it is never later
    // than the release minus the usual time since the description: a runner that is ready sooner than the judge's own
    // runner gains nothing. Calls before the first description that differs have just this start: on a host the judge
    // flushed caches after their descriptions.
    double begin(const Stamps& stamps) const {
        const double usual = stamps.released - (at_description_ ? own_described_ : 0);
        return stamps.at_description ? std::min(stamps.described, usual) : usual;
    }
    static double least(double ns) { return std::max(ns, 1.0); }
    static double median(const std::vector<double>& values) { return quantile(values, 0.5); }

    Bounds bounds_;
    bool at_description_ = false;  // the clock of some calls starts with the description
    double own_described_ = 0;  // nanoseconds from description to release in calls of the judge's own runner
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
