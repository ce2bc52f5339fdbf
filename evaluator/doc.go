// Package evaluator is the worker: it owns the device slots of one machine, takes jobs for them from the queue,
// evaluates each in the sandbox, reports what happens as it happens, and delivers a result. It has no database and
// keeps nothing between jobs but compiled objects.
//
// In reading order:
//
//	config.go      what a worker needs: its connection, sandbox, builder, slots
//	worker.go      Run: self-test, receiving, stopping
//	deliver.go     one job from its delivery to its end on the queue: result delivered, or job handed back
//	work.go one attempt: Build without a slot, hold the slots, Run, Conclude
//	inflight.go    the attempts under way, for cancelling and handing back
//	leave.go       an orderly end: when idle, by a stop signal, or because the machine goes away
//	check.go       small known programs decide whether a slot takes jobs; findings.go keeps what they showed
//	heartbeat.go   what the site gets every two seconds
//	profiler.go    a known kernel decides whether the machine's Nsight Compute works
//	precompile.go  what belongs to tasks is compiled while no job needs the processors
//	truncate.go    a result that is too large for a message loses what matters least
//	offline.go     a worker without a site, for verify-task
//
// The packages below: slots has the slots; attempt what every kind of work shares; taskrun and kernelrun/evaluation
// are the kinds; toolchain, sandbox, judge, harness and profiling do the work; queue and job connect to the site.
//
// Building does not need the device: a slot is held only while something runs on it, and on a GPU the next job is built in
// the meantime. Every failure of a submission is a result with its reason. Every other failure is an infrastructure error,
// which the site retries elsewhere; three in a row retire a slot until its tests pass again.
//
// What may go wrong: the site is away (results are delivered again until they are confirmed, events are lost); a worker's
// heartbeats come too late (the site gives the job to another worker, and ignores the second result); a process does not die
// (its slot is retired).
package evaluator
