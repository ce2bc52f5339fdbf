// Package judge runs a stage as processes that share only numbers: the judge and one or several runners. The judge has
// the task's reference, generator, and checker; it owns inputs, answers, seeds, the report, and a clock. The runners
// have the submission. Run starts each process in its own sandbox, the judge under a separate uid, and returns the
// outcome of the stage.
//
// On a GPU both languages use the same code for everything from "the input lies in the judge's memory" to "the answer
// lies in the judge's memory, with its clocks": the headers in harness/programs/cu and common. The judge of CUDA tasks
// includes them; the judge of Python tasks and of evaluations calls the core (harness/programs/core), a shared library
// that is compiled from them once per worker. On the host, Python has its own code.
//
// # Descriptors
//
//	judge    3   the report ("key: value" lines, see package harness)
//	         4   the door, through which it receives its runners
//	         5   if its runners are compared (/evaluate and /compare): a pipe that closes when nothing is left of the
//	             processes of earlier stages
//	runner   4   the channel: one end of a stream socket; the judge has the other
//	         5   the page: a memfd of SharedPageSize bytes, sealed against resizing, mapped by both
//	         6 … a channel and a page for each further rank, if a task runs on several GPUs
//
// # The door
//
// The door is a socket of messages (SOCK_SEQPACKET). To the judge: a uint32, the number of a runner, with three
// descriptors: the judge's end of the runner's channel, the page, and the reading end of a pipe that closes when no
// process of the runner is left. If the door closes, there are no more runners. From the judge: a uint32, the number of
// a runner that has finished, before END; a runner that has not exited some time later is killed.
//
// Runners follow one another, each after the previous one has exited, unless the stage asks for several together. Each
// has its own channel, page, and regions; regions are new or wiped, and on a device at another address, so that no
// runner reads what another one wrote. The next runner is not started while the constants of the previous one are
// measured, because the code that it runs could make them longer.
//
// If the judge's process stays for the next stage (StageRequest.KeepsJudge), a stage may end before its runners: when
// the judge has ended the turn of every runner and measures nothing any more, and the runners have closed their output.
// Their remaining processes (LeftProcesses) need time to end, for example to destroy a CUDA context, or are killed as
// above. Until then their Pythons, with user IDs and files, are not used: the next stage uses others, or waits. That
// stage's judge lets its own runners load, but waits for the end of descriptor 5 before their first call. So no process
// of an earlier stage exists when an answer is checked, a call is timed, or constants are measured. Only when all of
// them have ended, a program is closed, and its slot given to other jobs. If a process had to be killed, the device is
// checked.
//
// The judge owns the shared memory for inputs and answers: memfds, and on a GPU physical allocations (cuMemCreate)
// exported as descriptors. It sends them through the channel, and never receives one.
//
// # The channel
//
// A frame is a kind and a length (two little-endian uint32) followed by that many bytes. From judge to runner:
//
//	1 CASE   regions for the following calls, replacing earlier ones: for each a uint32 kind (0 host, 1 CUDA), a
//	         uint32 role (0 inputs, 1 answers, 2 sealed records), and a uint64 size in bytes; the frame carries their
//	         descriptors, in this order
//	2 CALL   a uint32 call number, a uint32 of flags (1: open the profiler's range around the call; 2: the
//	         description comes with INPUT), and the description of the input: pickled for Python, the walked members
//	         for C++. Arrays are described by their place in a region, not by their contents
//	3 END    no more calls; closing the channel means the same. For the judge, a closed channel means that the runner
//	         has exited or has shut its end down: only the pipe shows that its whole sandbox is dead
//	4 INPUT  host only, with the release. If the inputs' region is larger than 64 KB, the frame carries the memory of
//	         the call's inputs, which replaces that of the case. Its body is the description, if CALL has none: in
//	         Python, if descriptions differ from call to call and so reveal the input
//
// The runner sends one frame, once: 1 READY, empty, when the submission is loaded. Everything else goes through the
// page. The judge checks everything that it uses: an answer's description is limited in size, read once, and must lie
// inside a region.
//
// # The page
//
//	   0  uint32  release   judge: the call that may begin
//	   4  uint32  key (3)   judge: key of the sealed records; written before release, in the same cache line
//	  64  uint32  queued    runner: the call whose work is all queued (a call that waits for the device on the host
//	                        does not get here in time, and is released after a limit)
//	 128  uint32  done      runner: the call that has ended; on a device, the device writes it
//	 136  float64 ns        runner: the time on its own clock; -2^1000 until it is known
//	 192  uint32  size      runner: bytes of the answer's description, valid once queued (device) or done (host) is set
//	 256  uint32  soon      judge: the call whose release is near
//	 320  uint32  sealed    judge: the number of sealed records, before CALL
//	 384  uint32  active    runner: the call whose gate runs on the device
//	4096  bytes   answer    runner: the answer's description, before done
//
// # One call
//
//  1. The judge draws a fresh input with a seed from the system, in its own memory, and sends CALL.
//  2. The runner makes the argument from views of the shared regions. On a device it queues "wait for soon", the gate,
//     the first event, custom_kernel, the second event, and "write done", describes the answer, and sets queued. On
//     the host it sets queued and waits.
//  3. The judge poisons the last answer, writes the input into the shared region except for the sealed parts, flushes
//     caches, and occupies the device with a kernel that spins until all of that is done.
//  4. The judge sets soon and ends that kernel. The device switches to the runner's context, where the gate sets
//     active. The judge reads its clock (t0) and writes key and release; the gate reads both, decrypts the sealed
//     parts, and ends. On the host the runner has its own processors, which could watch shared memory. An input of up
//     to 64 KB is therefore written into the shared region after t0. A larger one is written in advance into new
//     memory, which the runner receives after t0 and maps in place of the old memory. In C++, CALL contains lengths
//     that differ from call to call: then the judge does all of step 3 before CALL, and t0 is the time of sending CALL.
//  5. The device writes done when the answer is complete. On the host the runner describes the answer, and sets ns and
//     done.
//  6. The judge reads its clock (t1), copies the answer into its own memory (t2), and checks it against its own input.
//
// # Sealed inputs
//
// On a device, arrays of up to 1 MB in all are sealed whole: they exist only as records encrypted with ChaCha8, under a
// 96-bit key drawn for each call. Of larger arrays, 64 pieces of 512 bytes are sealed, at unpredictable places; the
// other pieces of the same array are readable before the release. Each record contains, encrypted, its place. Arrays
// that do not begin at a multiple of four bytes are not sealed, nor are large ones that overlap.
//
// The runner's own clock begins when the input is mapped. From the judge's clock, the time for handing an input of the
// same size to our own runner is subtracted. Mapping must therefore be fast, or a submission that avoids it could hide
// work in that time: the judge makes new memory of huge pages (MADV_COLLAPSE, Linux 6.1 or later), and the runner
// unmaps the old input before the release. Without huge pages, every page of a region has been written before.
//
// The runner does not copy an answer that lies in a shared region (an output buffer of the input; memory that the
// runner's allocator took from the answers' region). It copies any other answer after its own clock has stopped and
// before done, and the copy counts: otherwise a submission could hide work in its time.
//
// # A runner under a sanitizer
//
// compute-sanitizer detects that an array is too short only if it is a separate allocation. With WARPBOARD_APART in its
// environment, a runner copies each device array into such an allocation, behind the gate, and puts answers in no
// shared region; they are copied there like any other. Its times mean nothing.
//
// # Ranks
//
// The runner of a task for several GPUs has one process per GPU, the ranks, all in one sandbox: they are one
// submission, communicate over its loopback and shared memory, and are not isolated from each other. Each has its own
// channel, page, device, and regions. All ranks make a call together: each has its input, one release starts all (the
// clock begins before the first one is released), the wall clock ends with the last "done", no answer is read before
// that, and the largest of the ranks' own clocks counts. A rank that reports "done" early gains nothing while another
// one works. If one dies or exits, the first process of the sandbox ends all. The constants are measured with as many
// of our own runners. A device that is ready waits for the others before the release with its clock running, and
// another context's use of it then counts as above. Weakness: only the longest interruption of the ranks' devices is
// added, not each.
//
// # Three clocks
//
// The clocks are the runner's own (event), w = t1 - t0 - k (wall), and s = t2 - t0 - k' (snapshot). k and k' are
// measured for each case, on the same device, with the judge's own runner, which is forked before the judge receives
// any data: its kernel overwrites as much as the case's answer, and the time of its events is subtracted. A case's time
// is the largest of median(event), median(w) - tolerance, and median(s) - tolerance. k' belongs to the smallest answer
// of the case's calls, because a runner chooses the size of its answers.
//
// A call that waits for the device on the host is released before it is queued. It has the same constants as any other.
// It has ended when done and queued are both set. In Python, w then counts until the copies of its answer are queued,
// and k is measured with calls of our own runner that are treated in the same way.
//
// A call on a device can have arrays on the host, which its runner has before the release. In Python, if these are large,
// timed calls keep those of an earlier call. If an answer is then wrong, the case begins again with new arrays in each
// call, w counts from the time before they are written, and k does not include that time.
//
// The copy of the answer is queued before the release, behind the judge's own gate, so that a store starts it. Work
// after "done" is undetected for some 20 µs, while the device returns to the judge's context. After that the snapshot
// is late, and the excess is added to it. A copy engine takes a sample of the answer: it waits for the runner's done
// word itself (with several ranks, for the judge's gate) and begins 4 to 10 µs after it, without the judge's processor.
// An answer that differs from its sample is refused.
//
// A gate that sets active too early has the context switch in its own time. If a gate sets it later than usual, by more
// than 6 µs, or by 3 µs in the middle call, the difference is added to its time: it could work on the unsealed parts.
// Between active and the release the judge only reads its clock.
//
// # Limits
//
// Besides the stage's own limit, a call has these limits:
//
//   - A runner that reports done is refused if queued and ns do not follow within 10 s.
//   - After the first five calls of a case, a call is refused if it takes more than 10 s and 20 times as long as the
//     longest before it.
//   - An answer is refused if the device cannot copy it within 10 s.
//   - In Python, a process after the first may take 30 s and 5 times as long as the first to load the submission.
//   - A call that is not queued within 10 ms is released: it waits for the device. If the clock began with the
//     description, the limit is 0.5 ms, because the wait counts.
//
// A runner that asks for more room for its answer has seen its input, so the call is repeated with another one. It may
// ask six times per case; otherwise it could select inputs and moments that suit it. If it asks before the release, its
// call is released without an input, and the next one begins after its end.
//
// All device work is queued at once, from the first byte of an input to the copies of the answer: the device waits
// until the judge has queued everything, and then never for the judge's processor. Only the first call on arrays of
// other sizes is queued piece by piece, because loading a kernel may wait for the device.
//
// On a device the constants are measured after the runner's sandbox is dead: code still running there could make them
// longer, and so its times shorter. The time from the first byte of an input until the judge frees its device is
// measured, too: if it exceeds that of our own runner's calls by 20 µs or more (50 µs if queued piece by piece), the
// excess is added to the call's time. In that time another context had the device, or the judge lost its processor
// while the runner's processor could see the unsealed parts.
//
// On the host the constants are measured between the calls. They are limited by the time that handing over an input of
// the same case takes after the submission has ended, and by its size: most_mapping in warpboard_shared.h.
//
// If descriptions of one case differ between calls, they reveal the input before the release: the clock of such a case
// starts when the description is sent. Weakness: shapes and scalars that depend only on the case are known before the
// release; a submission can prepare the part of the answer that depends only on them.
package judge
