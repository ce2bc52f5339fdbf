// Package work is the life cycle of work. A run and an evaluation are two kinds of it: each waits for a device, is
// given to an attempt, taken by a worker, reported, lost or handed back, cancelled, and ended. Read it in this order:
//
//	work.go              Work, and workItem: the differences between the two kinds
//	life_cycle.go        LifeCycle, Enqueue; Consequences: what follows from the end of a run beyond this package
//	queue.go             the one fair order of everything that waits; capacity.go: waiting work by device;
//	                     usual.go: the usual time of a run; activity.go: the devices' activity in a day
//	attempt.go           a try: StartAttempt, LiveAttempts; next.go: the next one for a worker
//	inflight.go          an attempt with its work inside a transaction
//	taken.go             RecordAttemptsReceived: the attempts that a worker lists
//	progress.go          AppendEvents: a worker's events
//	result.go            RecordResult: the end of an attempt; charge.go: whose budget it uses
//	loss.go              PreemptAttempt, FailAttempt: an attempt without an end; pauses, and when to give up
//	cancel.go            CancelRun, CancelEvaluation
//	counters.go          totals since the site was set up; what ends work adds to them in its transaction (AddToCounters)
//
// then files for one kind only: run.go, run_life.go, profiles.go, stage.go, event.go, artifact.go; evaluation.go,
// evaluation_life.go, evaluation_stats.go.
//
// The states of work and the functions that change them; the columns that hold them are in Work:
//
//	Enqueue, SubmitEvaluation
//	    │
//	    ▼      StartNextAttempt          RecordAttemptsReceived, AppendEvents
//	 waiting ───────────────► dispatched ───────────────────────► taken
//	    ▲                         │                                 │
//	    ├─────────────────────────┴─────────────────────────────────┤ FailAttempt, PreemptAttempt, a result that says lost
//	    │                                                           │
//	    │                                                           ▼ RecordResult, or the last of too many losses
//	    └─ from each of the three: CancelRun, CancelEvaluation ─► ended
//
// The row is the truth of the queue: code changes work in one transaction with a guard (saveWork: still live, still
// this attempt's), and the loser gets Conflict, or AttemptAccepted is false. Every function that changes work returns
// the news for watchers (Effect), and sends none itself. A result counts only with the secret of the current attempt.
// Work that was lost because of an infrastructure error keeps its place, waits longer each time, and costs no one
// anything.
//
// Failures: an attempt's events may be lost with their worker; its result is not. A job may not arrive: its attempt is
// given to the same worker again, or given up at no cost. A result may come before the event that its worker took the
// job, or after the run was cancelled.
//
// Traps: allLiveWorkSQL is the union of two tables, so a column of Work has to be in both, and in migrations for both
// databases. A run is saved before Consequences are called, because they write their own changes to it.
package work
