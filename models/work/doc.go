// Package work is the queue and the life cycle of work. Work is a run or an evaluation: it waits for a device, is sent
// to a worker as an attempt, and ends with a result. An attempt may be lost, or the worker may return it to the queue;
// people may cancel the work. Read the files in this order:
//
//	work.go              Work, and workItem: the differences between runs and evaluations
//	life_cycle.go        LifeCycle, Enqueue; Consequences: calls to package models at the end of a run
//	queue.go             the fair order of all waiting work; capacity.go: waiting work by device;
//	                     usual.go: the usual time of a run; activity.go: the devices' activity in a day
//	attempt.go           StartAttempt, LiveAttempts; next.go: the next attempt for a worker; turns.go: how long a slot
//	                     stays with one caller
//	inflight.go          an attempt with its work inside a transaction
//	taken.go             RecordAttemptsReceived: the attempts that a worker reports
//	progress.go          AppendEvents: a worker's events
//	result.go            RecordResult: the end of an attempt; charge.go: the budget that is charged
//	loss.go              PreemptAttempt, FailAttempt: an attempt without a result; pauses, and the limit of losses
//	cancel.go            CancelRun, CancelEvaluation
//	counters.go          totals since the site was set up (AddToCounters)
//
// then files for one kind only: run.go, run_life.go, profiles.go, stage.go, event.go, artifact.go; evaluation.go,
// evaluation_life.go, evaluation_stats.go.
//
// The states of work, which follow from the columns of Work, and the functions that change them:
//
//	Enqueue, SubmitEvaluation
//	    │
//	    ▼      StartNextAttempt          RecordAttemptsReceived, AppendEvents
//	 waiting ───────────────► dispatched ───────────────────────► taken
//	    ▲                         │                                 │
//	    ├─────────────────────────┴─────────────────────────────────┤ FailAttempt, PreemptAttempt, a reported loss
//	    │                                                           │
//	    │                                                           ▼ RecordResult, or the last of too many losses
//	    └─ from each of the three: CancelRun, CancelEvaluation ─► ended
//
// The database row is the source of truth. Code changes work in one transaction with a condition (saveWork: the work is
// live and belongs to this attempt). Of two simultaneous changes the second gets Conflict, or AttemptAccepted is false.
// Functions that change work return an Effect with the changes for watchers, and send nothing themselves. A result
// counts only with the secret of the current attempt. After a loss by an infrastructure error, the work keeps its
// position in the queue, pauses longer each time, and uses no limit or budget.
//
// A worker that dies may lose events of an attempt, but not a result that it has sent. If a job does not arrive at its
// worker, the same attempt is sent again, or ends without counting as a loss. A result may arrive before the event that
// its worker received the job, or after the run was cancelled.
//
// Traps: allLiveWorkSQL is the union of two tables, so a column of Work has to be in both, and in migrations for both
// databases. A run is saved before Consequences are called, because they write their own changes to it.
package work
