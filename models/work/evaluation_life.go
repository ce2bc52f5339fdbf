package work

import (
	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
)

// Evaluations differ from runs in some steps: their watchers receive a change number instead of events, and their
// measurements are added to counters instead of rows.

// WorkRef returns the reference of the evaluation.
func (e Evaluation) WorkRef() job.WorkRef { return job.WorkRef{EvaluationID: e.ID} }

func (e *Evaluation) ref() job.WorkRef { return e.WorkRef() }

func (e *Evaluation) work() *Work { return &e.Work }

func (e *Evaluation) setWaiting(why *job.Failure) {
	e.State, e.FailureReason = EvaluationSubmitted, db.SanitizeText(why.Reason)
}

func (e *Evaluation) setReceived() {} // setStage sets the state, when the worker reports a stage

func (e *Evaluation) setStage(stage job.Stage) {
	switch state := EvaluationState(stage); state {
	case EvaluationCompiling, EvaluationValidating, EvaluationProfiling:
		e.State = state
	}
}

func (e *Evaluation) setDone(r job.Result, found ResultFindings) {
	e.State, e.Result, e.FailureReason = found.Evaluation, r.Evaluation, ""
}

func (e *Evaluation) setFailed(why *job.Failure) {
	e.State, e.FailureReason = EvaluationFailed, ""
	if why != nil {
		e.FailureReason = db.SanitizeText(why.Reason)
	}
}

func (e *Evaluation) setCancelled(reason string) {
	e.State, e.FailureReason, e.Request = EvaluationCancelled, db.SanitizeText(reason), []byte(emptyRequestJSON)
}

func (e *Evaluation) cancelled() bool { return e.State == EvaluationCancelled }

func (e *Evaluation) keepResult(*gorm.DB, string, job.Result, []Artifact) error { return nil }

func (e *Evaluation) setMeasured(job.Result) {} // the report in the result contains the machine

// save writes the row without the request, which may be large. If the evaluation was cancelled, it deletes the request.
func (e *Evaluation) save(tx *gorm.DB, attemptID string) (int64, error) {
	e.ChangeNumber++
	if err := e.recordEndInBatch(tx); err != nil {
		return 0, err
	}
	kept := []string{"id"}
	if !e.cancelled() {
		kept = append(kept, "request")
	}
	if e.Result == nil {
		kept = append(kept, "result")
	}
	res := tx.Model(&Evaluation{}).Where("id = ? and attempt_id = ? and "+NotEndedSQL, e.ID, attemptID).Select("*").Omit(kept...).Updates(e)
	return res.RowsAffected, res.Error
}

func (e *Evaluation) announce(tx *gorm.DB, out *Effect) error {
	out.Evaluations = append(out.Evaluations, *e)
	if e.EndedAt == nil {
		return nil
	}
	if err := e.endSharers(tx, out); err != nil {
		return err
	}
	return AddToCounters(tx, CounterSample{Name: CounterEvaluationsEnded + string(e.State),
		Value: e.EndedAt.Sub(e.QueuedAt).Seconds()})
}

// countLoss adds the slot time of a lost attempt to a counter, because no report contains it.
func (e *Evaluation) countLoss(tx *gorm.DB) error {
	return AddToCounters(tx, CounterSample{Name: CounterEvaluationsGivenUp})
}

func (e *Evaluation) confirmFirstPlace(*gorm.DB, *Effect) error { return nil }

func (e *Evaluation) applyCancelledResult(*gorm.DB, job.Result) (*boards.ChangedBoard, error) {
	return nil, nil
}

func (e *Evaluation) applyConsequences(tx *gorm.DB, _ job.Result, found ResultFindings, out *Effect) error {
	waited := CounterSample{Name: CounterEvaluationWaits, Value: (e.StartedAt.Sub(e.QueuedAt) + found.WaitTime).Seconds()}
	if err := AddToCounters(tx, append(found.CounterSamples, waited)...); err != nil {
		return err
	}
	return e.announce(tx, out)
}
