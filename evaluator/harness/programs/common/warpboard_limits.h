// The table of constants: limits, tolerances, and times of the judge. warpboard_limits.py has those that Python uses, with the same
// names and values. Names that end in ns are nanoseconds.
#ifndef WARPBOARD_LIMITS_H
#define WARPBOARD_LIMITS_H

#include <cstddef>
#include <cstdint>

namespace warpboard {

// Waiting for a call.
constexpr double queued_limit_ns = 10e6;  // a call that is not queued by then waits for the device, and is released
constexpr double early_queued_limit_ns = 0.5e6;  // the same if the clock already runs: by then our own runner has queued its call
constexpr double gate_limit_ns = 20e6;  // a gate that does not report itself as running is released
// "queued" and the runner's clock must follow "done" within this time. Under compute-sanitizer they take seconds.
constexpr double after_done_limit_ns = 10e9;
// A call may take call_limit_ns, or call_limit_factor times the longest call of the case before it if that is more. The first
// calls compile, tune, and load, and those of a profile are replayed: they have only the stage's limit.
constexpr double call_limit_ns = 10e9, call_limit_factor = 20;
constexpr unsigned unlimited_calls = 5;
constexpr double copy_limit_ns = 10e9;  // for the copy of an answer on a device, which takes milliseconds
constexpr unsigned long long hold_limit_ns = 200'000'000;  // the kernel that keeps the device ends by itself
constexpr double held_limit_ns = 30e9;  // the device must come to this kernel
constexpr double wake_ns = 500e3;  // from the announcement of a release until Python's runner on a host is awake
// A waiting process spins for spin_ns, and then sleeps for a sleep_parts-th of the time waited. On a device more exactly: its
// work needs no processor but that of its process, and sleeping for 7 µs of a millisecond was more than clocks may differ.
constexpr double spin_ns = 1e6, sleep_parts = 200, device_spin_ns = 20e6, device_sleep_parts = 2000;

// Memory of the host, in bytes.
constexpr size_t host_page = 4096, huge_page = size_t{2} << 20;
constexpr size_t most_written = size_t{64} << 10;  // larger inputs are mapped during the call
constexpr size_t least_answers = size_t{64} << 20;  // of the answers' region
constexpr uint64_t most_answers = uint64_t{16} << 30;  // of an answer, if this process has no limit
constexpr long least_flush = 16L << 20, most_flush = 64L << 20;  // written to flush the caches
// The longest time to map an input: a constant, and more for each page. It is about three times the measurement on two
// machines.
constexpr double mapping_ns = 30e3, mapping_page_ns = 0.5e3, mapping_huge_page_ns = 3e3;

// Work that is queued before the release must fit into the driver's queue.
constexpr size_t most_waiting_arrays = 200;  // of an input
constexpr int most_waiting_parts = 500;  // of an answer

// Sealed parts of inputs: records of a header and of parts, which are blocks of the cipher.
constexpr unsigned record_words = 128, record_parts = 8;
constexpr unsigned most_records = 2112;  // of a call
constexpr uint32_t record_tag = 0x57617270;  // a record that is opened with another key has none
constexpr unsigned most_pieces = 64, most_rows = 256;  // of large arrays, and of everything sealed
// Threads of a block. The gate has few, so that many processors decrypt: with 512 threads a call of our own runner took 14 µs
// from release to done on an H200, with 64 it takes 7.2.
constexpr unsigned gate_threads = 64, seal_threads = 256, move_threads = 1024;

// The sample of an answer on a device.
constexpr size_t sample_rows = 64, sample_row_bytes = 64, sample_step = 64, most_sample_pitch = size_t{1} << 30;

// Tolerances of the judge's clocks.
constexpr double host_tolerance_ns = 2e3, device_tolerance_ns = 1.5e3;  // from release to done
constexpr double device_copy_tolerance_ns = 8e3;  // from release to answer
constexpr double device_handover_ns = 30e3;  // an empty call takes longer only on a busy machine
constexpr double sampled_ns = 15e3;  // the copy of an answer may end this long after "done" if a sample of it was right
// Writing an input may take this much longer than usual without another context's turn: if all of it was queued before the
// device began, and if the device waited for the judge because sizes were new or there were very many arrays. On an H100 the
// median of 150 processes was within 5 µs, and a change of contexts alone takes 145 µs.
constexpr double turn_ns = 20e3, slow_turn_ns = 50e3;
// A change of contexts, and a sample, may take this much longer than usual in one call and in the middle one. On two H100s the
// medians of 60 cases were within 5 µs.
constexpr double switch_ns = 6e3, middle_switch_ns = 3e3, sample_ns = 10e3, middle_sample_ns = 5e3;

// Repetitions of a case, as in KernelBot's programs.
constexpr size_t least_calls = 3, most_calls = 100;
constexpr double call_error = 0.001;  // standard error over mean
constexpr double case_kernel_ns = 10e9, case_wall_ns = 120e9;  // the timed calls' sum, and the case as a whole
constexpr int host_calibrations = 10;  // empty calls; flushing a host's caches takes long
// Calls in one of the fresh processes that measure a score: five take about as long as one process of a benchmark.
constexpr size_t host_process_calls = 12, device_process_calls = 40;

// Bounds limits the measurement of an empty call on one kind of device: a submission can keep the machine busy during it, and
// could hide work in the addition. Times are in nanoseconds.
struct Bounds {
    double tolerance;  // allowed difference of two measurements
    double most_tolerance;
    double most_handover;
    double share;     // of the copy's time, by which it may vary
    double quantile;  // of the judge's clocks, compared with the median of the runner's
    double hidden;    // work after "done" that passes while a device comes back to the judge; 0 without a gate on a device
    double sampled;   // allowed delay of the answer after "done", if a sample of it was right
};

}  // namespace warpboard

#endif
