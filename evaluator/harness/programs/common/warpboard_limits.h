// Limits, tolerances, and times of the judge that several programs share. warpboard_limits.py explains them and has the same
// names and values for Python.
#ifndef WARPBOARD_LIMITS_H
#define WARPBOARD_LIMITS_H

#include <cstddef>
#include <cstdint>

namespace warpboard {

// Waiting for a call, in nanoseconds.
constexpr double queued_limit_ns = 10e6, early_queued_limit_ns = 0.5e6, gate_limit_ns = 20e6, after_done_limit_ns = 10e9;
constexpr double call_limit_ns = 10e9, call_limit_factor = 20;
constexpr unsigned unlimited_calls = 5;
constexpr double copy_limit_ns = 10e9, held_limit_ns = 30e9;
constexpr unsigned long long hold_limit_ns = 200'000'000;
constexpr double spin_ns = 1e6, sleep_parts = 200, device_spin_ns = 20e6, device_sleep_parts = 2000;

// Memory of the host, in bytes.
constexpr size_t host_page = 4096, huge_page = size_t{2} << 20;
constexpr size_t most_written = size_t{64} << 10, least_answers = size_t{64} << 20;
constexpr uint64_t most_answers = uint64_t{16} << 30;
constexpr long least_flush = 16L << 20, most_flush = 64L << 20;
constexpr double mapping_ns = 30e3, mapping_page_ns = 0.5e3, mapping_huge_page_ns = 3e3;

// Work that is queued before the release.
constexpr size_t most_waiting_arrays = 200;
constexpr int most_waiting_parts = 500;

// Sealed parts of inputs.
constexpr unsigned record_words = 128, record_parts = 8, most_records = 2112;
constexpr uint32_t record_tag = 0x57617270;
constexpr unsigned most_pieces = 64, most_rows = 256;
constexpr unsigned gate_threads = 64, seal_threads = 256, move_threads = 1024;

// The sample of an answer on a device.
constexpr size_t sample_rows = 64, sample_row_bytes = 64, sample_step = 64, most_sample_pitch = size_t{1} << 30;

// Tolerances of the judge's clocks, in nanoseconds.
constexpr double host_tolerance_ns = 2e3, device_tolerance_ns = 1.5e3, device_copy_tolerance_ns = 8e3, device_handover_ns = 30e3;
constexpr double sampled_ns = 15e3, turn_ns = 20e3, slow_turn_ns = 50e3;
constexpr double switch_ns = 6e3, middle_switch_ns = 3e3, sample_ns = 10e3, middle_sample_ns = 5e3;

// Repetitions of a case.
constexpr size_t least_calls = 3, most_calls = 100;
constexpr double call_error = 0.001, case_kernel_ns = 10e9, case_wall_ns = 120e9;
constexpr int host_calibrations = 10;
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
