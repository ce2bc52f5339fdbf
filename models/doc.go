// Package models is the domain: what people submit, how it is worked on, and what is told of it, over SQLite or
// PostgreSQL. Below it are rooms that know less: db (the connection), accounts (people), fleet (workers), catalog
// (tasks), boards (rankings), pools (runs of equal source), devices (kinds of silicon), epochs (the software of measurements), rejudge (what
// is measured again). A Store has the methods of all of them, and rooms.go names their types, so that callers
// import one package. Nothing above models knows gorm or SQL.
//
// A run and an evaluation are two kinds of one thing, work: it waits for a device, is given to an attempt, taken by a
// worker, reported, lost or handed back, cancelled, and ended. Read the life of work in this order:
//
//	work.go              Work, and unit: what differs between the two kinds
//	queue.go             the one fair order of everything that waits
//	attempt.go           a try: StartAttempt, MarkPublished, LiveAttempts
//	inflight.go          an attempt with its work inside a transaction
//	taken.go             NoteTaken: what a heartbeat says that a worker has
//	progress.go          AppendEvents: what a worker says while it works
//	result.go            RecordResult: the end of an attempt
//	loss.go              PreemptAttempt, FailAttempt: an attempt without an end; pauses, and when to give up
//	cancel.go            CancelRun, CancelEvaluation
//
// then what is of one kind alone: submission.go, submit.go, limits.go, run.go, run_life.go, follow.go (the profile after
// a ranked run), stage.go, event.go, clock.go, artifact.go; evaluation.go, evaluation_life.go; flag.go and hints.go (what
// asks for a look at a run), moderation.go (decisions about runs, deleting, names), confirmation.go (whoever comes first is
// measured again), pool.go (runs of equal source count together), slots.go (silicon and software of workers, and what a new epoch brings), rejudge.go (what is measured again); and counter.go, sweep.go.
//
// The web reads and submits; evaluator/dispatch starts attempts and records what comes of them; the commands open the
// store. Tests get one from modelstest, on both databases.
//
// It promises that a row is the truth of the queue: whoever acts on work does so in one transaction with a guard, and
// the loser is told (Conflict, or Accepted is false). Every function that changes work returns what watchers are to be
// told, and tells nobody itself. A result counts only with the secret of the current attempt. Work that was lost
// because of an infrastructure error keeps its place, waits longer each time, and costs nobody anything.
//
// What may go wrong: an attempt's events are hints and may be lost; its result is not. A worker that fell silent may
// come back while another has its job: the attempt is the one's who says so last and is believed (letGo). liveWork
// is the union of two tables, so a column of Work has to be in both. Profiles are large: they lie as files under the
// data directory, and a crash between file and row leaves a file too much (sweep.go), never a row without one.
//
// Raw SQL, where gorm has no words for it: the union of both kinds with its window functions (work.go, queue.go,
// attempt.go), upserts of counters (counter.go), the last event (event.go). Everything else goes through gorm's
// builder with conditions as text.
package models
