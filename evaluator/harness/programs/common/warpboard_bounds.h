// Bounds on what is measured of doing nothing; each device has its own.
#ifndef WARPBOARD_BOUNDS_H
#define WARPBOARD_BOUNDS_H

namespace warpboard {

// Within what the cost of a call must be that does nothing. A submission can keep the machine busy while it is
// measured, and what it adds so would be its own to hide work in.
struct Bounds {
    double tolerance;       // by which two ways of doing nothing may differ
    double most_tolerance;
    double most_handover;
    double share;           // of its time, by which copying an answer may vary
    double quantile;        // of the judge's clocks that is compared with the median of the runner's
    double hidden;          // work after "done" that passes while a device comes back to the judge; 0 without a gate on one
    double sampled;         // by which the answer may come later than "done" says, where a sample of it was right
};

}  // namespace warpboard

#endif
