// Package judge runs a stage as processes that share only numbers: the judge, which has the task's
// reference, generator and checker, owns inputs, answers, seeds, the report and a clock; and one or several runners,
// which have the submission. Run starts them, each in a sandbox, the judge under a uid of its own, and says how the
// stage ended.
//
// # What they share
//
//	judge    3   the report ("key: value" lines, see package harness)
//	         4   the door, by which it gets its runners
//	runner   4   the channel: one end of a stream socket; the judge has the other
//	         5   the page: a memfd of PageSize bytes, sealed against resizing, mapped by both
//	         6 … a channel and a page for each further rank, where a task runs on several GPUs
//
// # The door
//
// A socket of messages (SOCK_SEQPACKET). To the judge: a uint32, the number of a runner, with three descriptors, its end of
// the runner's channel, the page, and the reading end of a pipe that ends when nothing of the runner is left; the end of the
// door means that there is no other runner. From the judge: a uint32, the number of a runner whose turn is over, before END;
// a runner that has not left a while later is killed.
//
// Runners come one after the other, each when the one before is gone, unless the stage asks for several together. Each has a
// channel and a page of its own, and regions of its own, new or wiped ones, on a device in another place: what one wrote
// there no other reads. The next one is not started while the constants of the one before are measured, for what it ran
// could make them longer.
//
// Shared memory for inputs and answers is the judge's: memfds, and on a GPU physical allocations
// (cuMemCreate) exported as descriptors. The judge sends them through the channel; it never receives one.
//
// # The channel
//
// Frames of a kind and a length (two little-endian uint32) and that many bytes. From judge to runner:
//
//	1 CASE   regions for the calls that follow, in place of those before: for each a uint32 kind (0 host,
//	         1 CUDA), a uint32 role (0 inputs, 1 answers, 2 sealed records) and a uint64 size in bytes; their
//	         descriptors travel with the frame, in this order
//	2 CALL   a uint32 call number, a uint32 of flags (1: open the profiler's range around the call; 2: the description comes with
//	         INPUT), and the description of the input: pickled for Python, the walked members for C++. Arrays are given by
//	         where they will lie in a region, not by their contents
//	3 END    no more calls; end of the channel means the same. For the judge the end of the channel means that the
//	         runner has left, or says so (shutdown): only the pipe tells that its whole sandbox is dead
//	4 INPUT  host only, with the release. Where the inputs' region is larger than 64 KB, the memory of the call's inputs, in
//	         place of that of the case, travels with the frame. Its body is the description, if CALL has none: in Python,
//	         where descriptions differ from call to call and so tell of the input
//
// From runner to judge there is one frame, once: 1 READY, empty, when the submission is loaded. All else goes through the
// page. The judge checks everything that it uses: an answer's description is bounded, read once, and must lie inside a
// region.
//
// # The page
//
//	   0  uint32  release   judge: the call that may begin
//	   4  uint32  key (3)   judge: opens what is sealed; written before release, in the same cache line
//	  64  uint32  queued    runner: the call of which all is queued (a call that waits for the device on the
//	                        host does not get here in time, and is released after a limit)
//	 128  uint32  done      runner: the call that has ended; on a device written by the device
//	 136  float64 ns        runner: what its own clock says; -2^1000 until it does
//	 192  uint32  size      runner: bytes of the answer's description, valid when queued (device) or done (host) is
//	 256  uint32  soon      judge: the call whose release is near
//	 320  uint32  sealed    judge: the number of sealed records, before CALL
//	 384  uint32  active    runner: the call whose gate runs on the device
//	4096  bytes   answer    runner: the answer's description, before done
//
// # One call
//
//  1. The judge draws a fresh input with a seed from the system, in memory of its own, and sends CALL.
//  2. The runner makes the argument out of views of the shared regions. On a device it queues "wait for soon", the
//     gate, the first event, custom_kernel, the second event and "write done", describes the answer and sets queued.
//     On the host it sets queued and waits.
//  3. The judge poisons the last answer, writes the input into the shared region but for what is sealed, flushes caches,
//     and keeps the device with a kernel that spins until all of that is done.
//  4. The judge sets soon and ends that kernel. The device changes to the runner's context, where the gate sets active.
//     The judge reads its clock (t0) and writes key and release; the gate reads both, opens what is sealed, and ends.
//     On the host the runner has processors of its own to watch shared memory with. There an input of up to 64 KB is
//     written into the shared region after t0. A larger one is written into new memory in advance, which the runner gets
//     after t0 and maps in the place of the old. In C++, lengths that differ from call to call are in CALL: there the judge
//     does all of 3 before CALL, and t0 is when it sends that.
//  5. The device writes done when the answer is there; on the host the runner describes the answer and sets ns and done.
//  6. The judge reads its clock (t1), copies the answer into memory of its own (t2) and checks it against its own input.
//
// # What is sealed
//
// Of a device's input, arrays of up to 1 MB in all are sealed whole: they exist only as records encrypted with ChaCha8, under a
// key of 96 bits that is drawn for each call. Of larger arrays 64 pieces of 512 bytes are, in places that cannot be foreseen;
// other pieces of the same array lie there until the release. Each record tells, encrypted, where it belongs. Arrays that
// do not begin at a multiple of four bytes are not sealed, nor are large ones that overlap.
//
// The runner's own clock begins when the input is mapped. The judge's subtracts what handing an input of the same size over to
// our own runner takes. So mapping must be quick, or a submission that does without could hide work in that time: the judge has
// new memory made of huge pages (MADV_COLLAPSE, Linux 6.1 or later), and the runner lets the old input go before the release.
// Where there are no huge pages, a region has no pages that were never written.
//
// An answer that lies in a shared region (an output buffer of the input; memory that the runner's allocator took
// from the answers' region) is not copied by the runner. Any other answer is, after the runner's own clock has
// stopped and before done, and the copy counts: otherwise its time would be a place to hide work in.
//
// # A runner under a sanitizer
//
// compute-sanitizer sees an array that is too short only if it is an allocation of its own. With WARPBOARD_APART in its
// environment a runner copies each array of a device into such memory, behind the gate, and gives answers none of the shared
// regions; they are copied there like any other. Its times mean nothing.
//
// # Ranks
//
// A task for several GPUs has a runner of as many processes, the ranks, in one sandbox: they are one submission, meet over
// its loopback and shared memory, and there is no wall between them. Each has a channel, a page, a device and regions of its
// own. A call is made by all of them together: each has its input, the release is one for all (the clock begins before the
// first is told), the wall clock ends with the last "done", no answer is taken before that, and of the ranks' own clocks the
// largest counts. A rank that says "done" early gains nothing while another one works; when one dies or leaves, the first
// process of the sandbox ends all. The constants are those of as many runners of ours. A device that is ready waits for
// the others before the release with its clock on: what another context had of it then counts as above.
// Weakness: of the ranks' devices only the longest interruption is added, not each.
//
// # Three clocks
//
// The runner's own (event), w = t1 - t0 - k (wall) and s = t2 - t0 - k' (snapshot). k and k' are measured with a
// runner of the judge's own, forked before the judge is told anything, on the same device, for each case: its kernel
// overwrites what the case's answer overwrites, and what its events say is subtracted. A case's
// time is the largest of median(event), median(w) - tolerance and median(s) - tolerance. k' is that of the smallest
// answer that the case's calls gave, for a runner chooses how large they are.
//
// A call that waits for the device on the host is released before it is queued. It has the same constants as any other. It has
// ended when done and queued are both set; in Python w counts until the copies of its answer are queued, and k is measured
// with calls of our own runner that are treated likewise.
//
// The copy of the answer is queued before the release, behind a gate of the judge's own, so that a store starts it. Work after
// "done" passes unseen for some 20 µs, while the device comes back to the judge's context. Beyond that the snapshot comes late,
// and what cannot be seen is added to it. A sample of the answer is taken by a copy engine that waits for the runner's done word
// itself (of several ranks, for the judge's gate): it begins 4 to 10 µs after that, without the judge's processor. An answer that
// is not what its sample was is refused.
//
// A gate that sets active too early has the change of contexts in its own time. One that sets it later than usual, by more
// than 6 µs, or by 3 µs in the middle call, has the difference added to its time: it could work on what is not sealed. The judge
// does nothing between active and the release but read its clock.
//
// # Limits
//
// Besides the stage's own limit, a call has these: a runner that says done, and not within 10 s that all was queued or what its
// own clock says, is refused. So is a call after the first five of a case that takes more than 10 s and 20 times as long as the longest
// before it, and an answer that the device cannot copy within 10 s. In Python, a process after the first may take 30 s and 5 times as
// long as the first to load the submission. A call that is not queued within 10 ms is released: it waits for
// the device. Where the clock began with the description, that is 0.5 ms, for those who wait pay for it.
//
// A runner that asks for more room for its answer has seen an input whose call is repeated with another one. It may do
// so six times a case, or it would choose the inputs, and the moments, that suit it.
//
// In Python the device is given everything at once, from the first byte of an input to the copies of the answer: it waits until the
// judge has queued it all, and then not for the judge's processor. Only the first call on arrays of other sizes is queued piece by
// piece, because loading a kernel may wait for the device.
//
// On a device the constants are measured when the runner's sandbox is dead: what still ran there could make them longer, and
// so its times shorter. From the first byte of an input until the judge lets its device go that is timed, too: what it takes
// more than in calls of our own runner, by 20 µs or more (50 where it was queued piece by piece), is added to the call's time. Another context had a turn then, or
// the judge was kept from its processor while the runner's could see what is not sealed.
// On the host they are measured between the calls, and bounded by what handing over an input of the same case takes when the
// submission has ended, and by its size: most_mapping in warpboard_shared.h.
//
// When descriptions of one case differ between calls, they tell of the input before the release: the clock of
// such a case starts when the description is sent. Weakness: shapes and scalars that depend on the case alone are
// known before the release; what an answer owes to them alone can be prepared.
package judge
