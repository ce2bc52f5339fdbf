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

// Work has the fields that runs and evaluations share. Work waits for a device, is given to one attempt after another,
// and ends once. The functions that change it (StartAttempt, AppendEvents, RecordAttemptsReceived, RecordResult,
// PreemptAttempt, FailAttempt, CancelRun, CancelEvaluation) are the same for both; workItem has the differences.
// Waiting: StartedAt and EndedAt are nil. AttemptID is empty until a job is created.  Running: StartedAt is set,
// because a worker received the attempt AttemptID.  Ended: EndedAt is set and does not change. AttemptID identifies the
// last attempt.
type Work struct {
	Device        string
	Requires      string // packages that its worker must have (requirement.List); empty: none
	AttemptCount  int    `gorm:"column:attempts"` // number of attempts
	AttemptID     string // current attempt, or the last one of ended work; empty if there is none
	AttemptCounts `gorm:"embedded"`
	Worker        string // worker of the current or last attempt
	QueuedAt      time.Time
	DispatchedAt  *time.Time // time at which the current attempt was created
	StartedAt     *time.Time // time at which a worker received the current attempt
	EndedAt       *time.Time
	// SlotNS is the slot time of the last attempt in nanoseconds: its duration times its number of slots.
	SlotNS int64 `gorm:"column:unit_ns"`
}

// NotEndedSQL selects work that has not ended. Its text must be that of the partial indexes.
const NotEndedSQL = "ended_at is null"

// allLiveWorkSQL selects all live work of both kinds as one table, without parked evaluations. turn_of is the key of
// the turn that the work counts for: its person, its caller, or its confirmation; see fairQueueSQL.
const allLiveWorkSQL = `
	select id as run_id, '' as evaluation_id, submission_id, user_id, mode as kind, device, requires, state,
		attempt_id, not_before, queued_at, dispatched_at, started_at,
		` + runPrioritySQL + ` as priority,
		case when purpose = 'confirm' then '` + confirmationTurnPrefix + `' || cast(order_id as text)
			else 'person:' || cast(user_id as text) end as turn_of, '' as owner
	from runs where ` + NotEndedSQL + `
	union all
	select 0, id, 0, user_id, kind, device, requires, state,
		attempt_id, not_before, queued_at, dispatched_at, started_at, ` + evaluationPrioritySQL + `, caller, owner
	from evaluations where ` + NotEndedSQL + ` and parked = 0`

// runPrioritySQL and evaluationPrioritySQL compute the Priority of work in SQL. The indexes runs_last_end and
// evaluations_last_end contain the same expressions. A change here needs new indexes; otherwise lastTurnEndSQL reads
// all ended work of a person.
const (
	runPrioritySQL = "case when " + RequestedRunSQL + " or overdue then 1 " +
		"when purpose = 'baseline' then 3 when purpose = 'remeasure' then 4 else 2 end"
	evaluationPrioritySQL = "case when batch = '' then 0 else 1 end"
)

// confirmationTurnPrefix begins the value of turn_of for the turns of a confirmation. The order's ID follows.
const confirmationTurnPrefix = "confirmation "

// Priority orders the work of a device; the smallest comes first.
type Priority int

// Priorities. Callers wait for the response of an evaluation, so the first evaluation of each caller comes first; the
// following ones alternate with runs (see fairQueueSQL). A batch queues the next evaluation when one ends, so its
// evaluations have the priority of runs. Profiles that follow ranked runs, and turns of confirmations, come after runs
// (turns only for some time, see PrioritizeOverdueTurns in package models); then baselines, then reruns.
const (
	PriorityEvaluation Priority = iota
	PriorityRun
	PriorityFollowUp
	PriorityBaseline
	PriorityRerun
)

// workItem is a run or an evaluation in the transaction that changes it. Its methods differ between the two.
// inflight.go, loss.go, cancel.go, and result.go call them.
type workItem interface {
	ref() job.WorkRef
	work() *Work

	// The following methods only change fields.
	setWaiting(why *job.Failure)
	setReceived()
	setStage(stage job.Stage)
	setDone(r job.Result, found ResultFindings)
	setFailed(why *job.Failure)
	setCancelled(reason string)
	cancelled() bool

	// keepResult stores the parts of a result that count even if its attempt is no longer current.
	keepResult(tx *gorm.DB, attemptID string, r job.Result, artifacts []Artifact) error
	// setMeasured sets the machine and the conditions of the attempt.
	setMeasured(r job.Result)
	// save writes the row if it is live and belongs to the attempt.
	save(tx *gorm.DB, attemptID string) (rows int64, err error)
	// announce adds the new state to out, and counts work that has ended.
	announce(tx *gorm.DB, out *Effect) error
	// payerID returns the person who is charged for the slot time; 0 means no one.
	payerID() int64
	// submissionID returns the submission to which the slot time is charged; 0 for none.
	submissionID() int64
	// slotCount returns the number of slots that the work uses.
	slotCount(tx *gorm.DB) (int, error)
	// countLoss counts a lost attempt that a worker had received.
	countLoss(tx *gorm.DB) error
	// applyConsequences applies the consequences of a result that ended the work, and announces the end.
	applyConsequences(tx *gorm.DB, r job.Result, found ResultFindings, out *Effect) error
	// applyCancelledResult applies the consequences of a result for cancelled work.
	applyCancelledResult(tx *gorm.DB, r job.Result) (*boards.ChangedBoard, error)
	// confirmFirstPlace starts a confirmation of a new 1st place, if there is one. It is called after all others for
	// every result.
	confirmFirstPlace(tx *gorm.DB, out *Effect) error
}

// Effect describes what a transaction changed, so that watchers can be notified after the commit.
type Effect struct {
	AttemptAccepted bool         // false: the attempt no longer counts, or this is a repetition
	WorkRetried     bool         // the work waits for another attempt
	StoppedAttempts []string     // attempts that were taken from their workers
	Events          []RunEvent   // new events of runs
	Evaluations     []Evaluation // evaluations that changed, without requests
	ChangedBoard    *boards.ChangedBoard
}

// loadWork reads a run or an evaluation (without its request and result).
func (l *LifeCycle) loadWork(tx *gorm.DB, ref job.WorkRef) (workItem, error) {
	if ref.EvaluationID == "" {
		var run Run
		err := tx.Take(&run, ref.RunID).Error
		return runItem{&run, l.consequences}, db.ReadError(err, "run %d", ref.RunID)
	}
	var e Evaluation
	err := tx.Omit("request", "result").Where("id = ?", ref.EvaluationID).Take(&e).Error
	return &e, db.ReadError(err, "evaluation %s", ref.EvaluationID)
}

// saveWork writes changed work, if it is live and still belongs to the attempt attemptID.
func saveWork(tx *gorm.DB, u workItem, attemptID string) error {
	rows, err := u.save(tx, attemptID)
	switch {
	case err != nil:
		return fmt.Errorf("saving %s: %w", u.ref(), err)
	case rows != 1:
		return db.Errorf(db.Conflict, "%s has changed since.", sentenceSubject(u.ref()))
	}
	return nil
}

// sentenceSubject returns the name of work at the beginning of a sentence, such as "Run 5".
func sentenceSubject(ref job.WorkRef) string {
	name := ref.String()
	return strings.ToUpper(name[:1]) + name[1:]
}

// end sets the time at which the work ended to now.
func (w *Work) end() {
	t := db.Now()
	w.EndedAt = &t
}
