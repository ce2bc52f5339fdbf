// Package evaluator is the worker. It owns the device slots of one machine, takes jobs for them from the queue,
// evaluates each in the sandbox, reports progress as events, and delivers a result. It has no database and keeps only
// compiled objects between jobs.
//
// In reading order:
//
//   - config.go: the worker's connection, sandbox, builder, and slots
//   - worker.go: Run: self-test, receiving, stopping
//   - deliver.go: one job from its arrival to the delivery of its result
//   - work.go: one attempt: Build without a slot, hold the slots, Run, Conclude
//   - inflight.go: the attempts in progress, for cancelling and handing back
//   - leave.go: an orderly exit: when idle, by a stop signal, or because the machine shuts down
//   - self_tests.go: self-tests that decide whether a slot takes jobs; findings.go keeps their results
//   - heartbeat.go: the report to the site every two seconds
//   - slot_benchmark.go: benchmarks of idle slots with the kernels in slotbench (slot_benchmark_job.go): one that does
//     nothing, one that reads memory, and one that multiplies and adds in fp32 without tensor cores. They go through the
//     same judge as submissions. The best of all repetitions counts, so that a neighbor's load cannot put an honest run
//     above a limit
//   - profiler.go: a known kernel decides whether the machine's Nsight Compute works
//   - precompile.go: compiles tasks while no job needs the processors
//   - truncate.go: cuts a result that is too large for a message
//   - offline.go: a worker without a site, for verify-task
//
// Below it: package slots has the slots; attempt is shared by all kinds of work; taskrun and kernelrun/evaluation are
// the kinds; toolchain, sandbox, judge, harness, and profiling do the work; queue and job connect to the site.
//
// Building does not need the device: a slot is held only while something runs on it, and on a GPU the next job is built
// at the same time. Every failure of a submission is a result with its reason. Every other failure is an infrastructure
// error, which the site retries elsewhere; three jobs in a row with one retire a slot until its tests pass again.
//
// Failures: the site is unreachable (results are sent again until they are confirmed, events are lost); heartbeats come
// too late (the site gives the job to another worker, and ignores the second result); a process does not die (its slot
// is retired).
package evaluator
