// The table of constants: limits, tolerances, and times of the judge. warpboard_limits.py has those that Python uses, with the same
// names and values. Names that end in ns are nanoseconds.
#ifndef WARPBOARD_LIMITS_H
#define WARPBOARD_LIMITS_H

#include <cstddef>
#include <cstdint>

namespace warpboard {

// Waiting for a call.

// A call that is not queued within this time is assumed to wait for the device, and is released.
constexpr double queued_limit_ns = 10e6;
// The same limit for calls whose clock already runs. The judge's own runner needs less time to queue a call.
constexpr double early_queued_limit_ns = 0.5e6;
// A gate that has not reported that it runs by then is released.
constexpr double gate_limit_ns = 20e6;
// After "done", the runner must report "queued" and its own clock within this time. Under compute-sanitizer this takes
// seconds.
constexpr double after_done_limit_ns = 10e9;
// A call may take call_limit_ns, or call_limit_factor times the longest call of the case before it if that is more. The first
// calls compile, tune, and load, and those of a profile are replayed: they have only the stage's limit.
constexpr double call_limit_ns = 10e9, call_limit_factor = 20;
constexpr unsigned unlimited_calls = 5;
// The limit for copying an answer on a device, which takes milliseconds.
constexpr double copy_limit_ns = 10e9;
// The judge's kernel that keeps the device busy ends by itself after this time.
constexpr unsigned long long hold_limit_ns = 200'000'000;
// The device must start that kernel within this time.
constexpr double held_limit_ns = 30e9;
// The time between the announcement of a release and the release, in which Python's runner on a host wakes up.
constexpr double wake_ns = 500e3;
// A waiting process spins for spin_ns, and then sleeps for the time waited so far divided by sleep_parts. For work on a
// device it spins longer and sleeps less: such work needs no other processor, and a sleep of 7 µs in a wait of a
// millisecond exceeded the tolerance of the clocks.
constexpr double spin_ns = 1e6, sleep_parts = 200, device_spin_ns = 20e6, device_sleep_parts = 2000;

// Memory of the host, in bytes.
constexpr size_t host_page = 4096, huge_page = size_t{2} << 20;
constexpr size_t most_written = size_t{64} << 10;  // larger inputs are mapped by the runner during the call
constexpr size_t least_answers = size_t{64} << 20;  // least size of the answers' region
constexpr uint64_t most_answers = uint64_t{16} << 30;  // largest answer if the process has no file size limit
constexpr long least_flush = 16L << 20, most_flush = 64L << 20;  // limits of the bytes written to flush the caches

// The longest time to map an input: a constant, and more for each page. It is about three times the measurement on two
// machines.
constexpr double mapping_ns = 30e3, mapping_page_ns = 0.5e3, mapping_huge_page_ns = 3e3;

// Work that is queued before the release must fit into the driver's queue.
constexpr size_t most_waiting_arrays = 200;  // most arrays of an input
constexpr int most_waiting_parts = 500;  // most arrays of an answer

// The encrypted (sealed) parts of inputs. They consist of records: each has a header and parts of a cipher block each.
constexpr unsigned record_words = 128, record_parts = 8;
constexpr unsigned most_records = 2112;  // most records in one call
constexpr uint32_t record_tag = 0x57617270;  // marks a decrypted record; with a wrong key it does not appear
// most sealed pieces of large arrays, and most sealed ranges in all
constexpr unsigned most_pieces = 64, most_rows = 256;

// Threads per block of the judge's kernels. The gate's blocks are small, so that many multiprocessors decrypt: with 512
// threads an empty call took 14 µs from release to done on an H200, with 64 it takes 7.2.
constexpr unsigned gate_threads = 64, seal_threads = 256, move_threads = 1024;

// The sample of an answer on a device.
constexpr size_t sample_rows = 64, sample_row_bytes = 64, sample_step = 64, most_sample_pitch = size_t{1} << 30;

// Tolerances of the judge's clocks.
constexpr double host_tolerance_ns = 2e3, device_tolerance_ns = 1.5e3;  // of the time from release to "done"
constexpr double device_copy_tolerance_ns = 8e3;  // of the time from release to the copied answer
// The longest empty call on a device; only a busy machine takes longer.
constexpr double device_handover_ns = 30e3;
// The copy of an answer may end this long after "done" if a sample of the answer was right.
constexpr double sampled_ns = 15e3;
// Writing an input may take this much longer than usual; a larger excess shows that another context had a time slice.
// turn_ns applies if all of the writing was queued before the device began, slow_turn_ns if the device had to wait for
// the judge, because sizes were new or there were very many arrays. On an H100 the median of 150 processes was within 5
// µs, and a change of contexts alone takes 145 µs.
constexpr double turn_ns = 20e3, slow_turn_ns = 50e3;
// The longest time to write a byte of an input on a device: all devices copy more than 100 GB/s.
constexpr double written_byte_ns = 0.01;
// A change of contexts (switch) and a sample may take this much longer than usual: in one call, and (middle) in the
// median of all calls. On two H100s the medians of 60 cases were within 5 µs.
constexpr double switch_ns = 6e3, middle_switch_ns = 3e3, sample_ns = 10e3, middle_sample_ns = 5e3;

// Repetitions of a case, as in KernelBot's programs.
constexpr size_t least_calls = 3, most_calls = 100;
constexpr double call_error = 0.001;  // a case ends when the standard error of the mean is below this share of it
constexpr double case_kernel_ns = 10e9, case_wall_ns = 120e9;  // limits of the sum of timed calls, and of the case
// Empty calls on a host per case; they are few, because flushing a host's caches takes long.
constexpr int host_calibrations = 10;
// Calls in each of the fresh processes that measure a score: five such processes take about as long as one of a
// benchmark.
constexpr size_t host_process_calls = 12, device_process_calls = 40;

// Bounds limits the measured cost of an empty call on one kind of device. A submission that keeps the machine busy
// during this measurement could otherwise increase the cost, and hide work in it. Times are in nanoseconds.
struct Bounds {
    double tolerance;  // allowed difference between two measurements
    double most_tolerance;
    double most_handover;
    double share;     // share of the time to copy an answer by which it may vary
    double quantile;  // quantile of the judge's times that is compared with the median of the runner's
    // addition for work after "done" that stays unseen while a device returns to the judge; 0 without a gate on a
    // device
    double hidden;
    double sampled;   // allowed delay of the answer after "done", if a sample of it was right
};

}  // namespace warpboard

#endif
