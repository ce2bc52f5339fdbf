"""Limits, tolerances, and times of the judge that several programs share. warpboard_limits.h has the same names and values for
C++. Names that end in NS are nanoseconds."""

# Waiting for a call.
QUEUED_LIMIT_NS = 10_000_000  # a call that is not queued by then waits for the device, and is released
EARLY_QUEUED_LIMIT_NS = 500_000  # the same if the clock already runs: by then our own runner has queued its call
GATE_LIMIT_NS = 20_000_000  # a gate that does not report itself as running is released
# "queued" and the runner's clock must follow "done" within this time. Under compute-sanitizer they take seconds.
AFTER_DONE_LIMIT_NS = 10_000_000_000
# A call may take CALL_LIMIT_NS, or CALL_LIMIT_FACTOR times the longest call of the case before it if that is more. The first
# calls compile, tune, and load, and those of a profile are replayed: they have only the stage's limit.
CALL_LIMIT_NS, CALL_LIMIT_FACTOR, UNLIMITED_CALLS = 10_000_000_000, 20, 5
COPY_LIMIT_NS = 10_000_000_000  # for the copy of an answer on a device, which takes milliseconds
HOLD_LIMIT_NS = 200_000_000  # the kernel that keeps the device ends by itself
HELD_LIMIT_NS = 30_000_000_000  # the device must come to this kernel
# A waiting process spins for SPIN_NS, and then sleeps for a SLEEP_PARTS-th of the time waited. On a device more exactly: its
# work needs no processor but that of its process, and sleeping for 7 µs of a millisecond was more than clocks may differ.
SPIN_NS, SLEEP_PARTS = 1_000_000, 200
DEVICE_SPIN_NS, DEVICE_SLEEP_PARTS = 20_000_000, 2000

# Memory of the host, in bytes.
HOST_PAGE, HUGE_PAGE = 4096, 2 << 20
MOST_WRITTEN = 64 << 10  # larger inputs are mapped during the call
LEAST_ANSWERS = 64 << 20  # of the answers' region
MOST_ANSWERS = 16 << 30  # of an answer, if this process has no limit
LEAST_FLUSH, MOST_FLUSH = 16 << 20, 64 << 20  # written to flush the caches
# The longest time to map an input: a constant, and more for each page. It is about three times the measurement on two
# machines.
MAPPING_NS, MAPPING_PAGE_NS, MAPPING_HUGE_PAGE_NS = 30_000, 500, 3_000

# Work that is queued before the release must fit into the driver's queue.
MOST_WAITING_ARRAYS = 200  # of an input
MOST_WAITING_PARTS = 500  # of an answer

# Sealed parts of inputs: records of a header and of parts, which are blocks of the cipher.
RECORD_WORDS, RECORD_PARTS = 128, 8
MOST_RECORDS = 2112  # of a call
RECORD_TAG = 0x57617270  # a record that is opened with another key has none
MOST_PIECES, MOST_ROWS = 64, 256  # of large arrays, and of everything sealed
# Threads of a block. The gate has few, so that many processors decrypt: with 512 threads a call of our own runner took 14 µs
# from release to done on an H200, with 64 it takes 7.2.
GATE_THREADS, SEAL_THREADS, MOVE_THREADS = 64, 256, 1024

# The sample of an answer on a device.
SAMPLE_ROWS, SAMPLE_ROW_BYTES, SAMPLE_STEP, MOST_SAMPLE_PITCH = 64, 64, 64, 1 << 30

# Tolerances of the judge's clocks.
HOST_TOLERANCE_NS, DEVICE_TOLERANCE_NS = 2_000, 1_500  # from release to done
DEVICE_COPY_TOLERANCE_NS = 8_000  # from release to answer
DEVICE_HANDOVER_NS = 30_000  # an empty call takes longer only on a busy machine
SAMPLED_NS = 15_000  # the copy of an answer may end this long after "done" if a sample of it was right
# Writing an input may take this much longer than usual without another context's turn: if all of it was queued before the
# device began, and if the device waited for the judge because sizes were new or there were very many arrays. On an H100 the
# median of 150 processes was within 5 µs, and a change of contexts alone takes 145 µs.
TURN_NS, SLOW_TURN_NS = 20_000, 50_000
# A change of contexts, and a sample, may take this much longer than usual in one call and in the middle one. On two H100s the
# medians of 60 cases were within 5 µs.
SWITCH_NS, MIDDLE_SWITCH_NS = 6_000, 3_000
SAMPLE_NS, MIDDLE_SAMPLE_NS = 10_000, 5_000

# Repetitions of a case, as in KernelBot's programs.
LEAST_CALLS, MOST_CALLS = 3, 100
CALL_ERROR = 0.001  # standard error over mean
CASE_KERNEL_NS, CASE_WALL_NS = 10e9, 120e9  # the timed calls' sum, and the case as a whole
HOST_CALIBRATIONS = 10  # empty calls; flushing a host's caches takes long
# Calls in one of the fresh processes that measure a score: five take about as long as one process of a benchmark.
HOST_PROCESS_CALLS, DEVICE_PROCESS_CALLS = 12, 40
