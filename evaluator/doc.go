// Package evaluator is the worker: it owns the device slots of one machine, takes jobs for them from the queue,
// evaluates each in the sandbox, reports what happens as it happens, and delivers a result. It has no database and
// keeps nothing between jobs but compiled objects.
//
// In reading order:
//
//	config.go      what a worker needs: its connection, sandbox, builder, slots
//	worker.go      Run: self-test, receiving, stopping
//	deliver.go     one job from its delivery to its end on the queue: result delivered, or job handed back
//	work.go        one attempt: Build without a unit, hold the units, Run, Conclude
//	inflight.go    the attempts under way, for cancelling and handing back
//	leave.go       ending in order: when idle, by a stop signal, or because the machine goes away
//	check.go       small known programs decide whether a slot takes jobs; findings.go keeps what they showed
//	heartbeat.go   what the site hears every two seconds
//	profiler.go    a known kernel decides whether the machine's Nsight Compute works
//	precompile.go  what belongs to tasks is compiled while no job needs the processors
//	truncate.go    a result that is too large for a message loses what matters least
//	offline.go     a worker without a site, for verify-task
//
// The rooms below: slots has the units; attempt what every kind of work shares; taskrun and kernelrun/evaluation
// are the kinds; toolchain, sandbox, judge, harness and profiling do the work; queue and job connect to the site.
//
// Building does not need the device: a slot is held only while something runs on it, and on a GPU the next job is
// built in the meantime. Whatever a submission does is a result with its reason. What is not the submitter's failure is an
// infrastructure error, which the site retries elsewhere; three in a row retire a slot, until its tests pass again.
//
// What may go wrong: the site is away (results are delivered again and again, events are lost); a worker is too slow
// with its signs of life (the queue delivers the job elsewhere, and the site ignores the second result); a process
// does not die (its slot is retired).
package evaluator
