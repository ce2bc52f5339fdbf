package work

import (
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
)

// Work has the common fields of a run and an evaluation: it waits for a device, is given to one attempt after
// another, and ends once. The functions that change it (StartAttempt, AppendEvents, NoteTaken, RecordResult,
// PreemptAttempt, FailAttempt, CancelRun and CancelEvaluation) are the same for both; item has the differences.
//
//	waits      StartedAt and EndedAt are nil; AttemptID is empty until a job is made of it
//	is worked  StartedAt is set: a worker took the attempt AttemptID
//	has ended  EndedAt is set, for good; AttemptID stays that of the last attempt
type Work struct {
	Device        string
	Requires      string // packages that its worker must have (requirement.List); empty: none
	Attempts      int    // number of attempts
	AttemptID     string // the current one, or the last one of work that has ended; empty while there is none
	AttemptCounts `gorm:"embedded"`
	Worker        string // of the current or last attempt
	QueuedAt      time.Time
	DispatchedAt  *time.Time // when the current attempt's job was made
	StartedAt     *time.Time // when a worker took the current attempt
	EndedAt       *time.Time
	// slot time of the attempt that ended it: its duration times its number of slots
	SlotNS int64 `gorm:"column:unit_ns"`
}

// LiveCondition is the SQL condition for work that has not ended, with the text of the partial indexes.
const LiveCondition = "ended_at is null"

// liveWork is all live work of both kinds, as one table, without parked evaluations. turn_of identifies the turn that
// the work uses up: its person's, its caller's, or its confirmation's, which no one asked for; see fairQueue.
const liveWork = `
	select id as run_id, '' as evaluation_id, submission_id, user_id, mode as kind, device, requires, state,
		attempt_id, not_before, queued_at, dispatched_at, started_at,
		` + runPriority + ` as priority,
		case when purpose = 'confirm' then '` + turnOfConfirmation + `' || cast(order_id as text) else 'person:' || cast(user_id as text) end as turn_of
	from runs where ` + LiveCondition + `
	union all
	select 0, id, 0, user_id, kind, device, requires, state,
		attempt_id, not_before, queued_at, dispatched_at, started_at, ` + evaluationPriority + `, caller
	from evaluations where ` + LiveCondition + ` and parked = 0`

// runPriority and evaluationPriority compute the Priority of work in SQL. The indexes runs_last_end and
// evaluations_last_end have the same words: a change here needs new indexes, or lastEnd reads all ended work of a
// person.
const (
	runPriority        = "case when " + AskedCondition + " or overdue then 1 when purpose = 'baseline' then 3 when purpose = 'remeasure' then 4 else 2 end"
	evaluationPriority = "case when batch = '' then 0 else 1 end"
)

// turnOfConfirmation begins the turn of a confirmation.
const turnOfConfirmation = "confirmation "

// Priority orders the work of a device; the smallest goes first.
type Priority int

// The priorities. Someone waits for the answer of an evaluation, so one of each caller goes first; the next ones take
// turns with runs (see fairQueue). A batch brings the next ones as these end, so its evaluations have the priority of
// runs. A profile that follows a ranked run, or a turn of a confirmation, gives way to them (the turn for a while: see
// HurryTurns); a baseline gives way to these, and what is measured again to everything else.
const (
	PriorityEvaluation Priority = iota
	PriorityRun
	PriorityFollowUp
	PriorityBaseline
	PriorityRerun
)

// item is a run or an evaluation inside the transaction that changes it. Its methods differ between the two; the order
// of the steps is in inflight.go, loss.go, cancel.go and result.go.
type item interface {
	ref() job.WorkRef
	work() *Work

	// These methods change only the state.
	setWaiting(why *job.Failure)
	setTaken()
	setStage(stage job.Stage)
	setDone(r job.Result, found Findings)
	setFailed(why *job.Failure)
	setCancelled(reason string)
	cancelled() bool

	// keepResult stores the parts of a result that count even if its attempt no longer does.
	keepResult(tx *gorm.DB, attemptID string, r job.Result, artifacts []Artifact) error
	// setMeasured takes over the machine and the conditions of the attempt.
	setMeasured(r job.Result)
	// save writes the row, if it is still live and this attempt's.
	save(tx *gorm.DB, attemptID string) (rows int64, err error)
	// announce adds the new state to the news for watchers, and counts ended work.
	announce(tx *gorm.DB, out *Effect) error
	// payer returns the person who is charged for the slots that it held; 0: no one. slotCount returns their number.
	payer() int64
	submission() int64 // that it belongs to; 0: none
	slotCount(tx *gorm.DB) (int, error)
	// countLoss counts a taken attempt that ends without a report.
	countLoss(tx *gorm.DB) error
	// afterResult applies the consequences of a result that ended the work, and announces it.
	afterResult(tx *gorm.DB, r job.Result, found Findings, out *Effect) error
	// afterStop handles the consequences of a result for cancelled work.
	afterStop(tx *gorm.DB, r job.Result) (*boards.Change, error)
	// settle comes last, whatever a result did.
	settle(tx *gorm.DB, out *Effect) error
}

// Effect is the effect of a change to work: the news for watchers.
type Effect struct {
	Accepted    bool         // false: the attempt no longer counts, or this is a repetition
	Retried     bool         // the work waits for another attempt
	Stopped     []string     // attempts that were taken from their workers
	Events      []RunEvent   // of runs
	Evaluations []Evaluation // that changed, without their requests
	Board       *boards.Change
}

// loadItem reads a run or an evaluation, the latter without its request and its result.
func (l *LifeCycle) loadItem(tx *gorm.DB, ref job.WorkRef) (item, error) {
	if ref.EvaluationID == "" {
		var run Run
		err := tx.Take(&run, ref.RunID).Error
		return runItem{&run, l.consequences}, db.ReadError(err, "run %d", ref.RunID)
	}
	var e Evaluation
	err := tx.Omit("request", "result").Where("id = ?", ref.EvaluationID).Take(&e).Error
	return &e, db.ReadError(err, "evaluation %s", ref.EvaluationID)
}

// saveItem saves work that was changed; attemptID is its attempt before the change. The guard makes sure that it
// is still that attempt's and live.
func saveItem(tx *gorm.DB, u item, attemptID string) error {
	rows, err := u.save(tx, attemptID)
	switch {
	case err != nil:
		return fmt.Errorf("saving %s: %w", u.ref(), err)
	case rows != 1:
		return db.Errorf(db.Conflict, "%s has changed since.", sentenceSubject(u.ref()))
	}
	return nil
}

// sentenceSubject returns the beginning of a sentence about work: its name with a capital letter.
func sentenceSubject(ref job.WorkRef) string {
	name := ref.String()
	return strings.ToUpper(name[:1]) + name[1:]
}

// end closes the work for good.
func (w *Work) end() {
	t := db.Now()
	w.EndedAt = &t
}
