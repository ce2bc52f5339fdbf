package job

import "strconv"

// WorkRef identifies a run (by RunID) or an evaluation (by EvaluationID). The other field is zero.
type WorkRef struct {
	RunID        int64
	EvaluationID string
}

// KindName returns "run" or "evaluation".
func (r WorkRef) KindName() string {
	if r.EvaluationID != "" {
		return "evaluation"
	}
	return "run"
}

// ID returns the ID of the run or the evaluation as text.
func (r WorkRef) ID() string {
	if r.EvaluationID != "" {
		return r.EvaluationID
	}
	return strconv.FormatInt(r.RunID, 10)
}

// String returns "run 17" or "evaluation 3f0c…".
func (r WorkRef) String() string { return r.KindName() + " " + r.ID() }

// WorkRef returns the reference of the job's run or evaluation.
func (j Job) WorkRef() WorkRef { return WorkRef{RunID: j.RunID, EvaluationID: j.EvaluationID} }

// WorkRef returns the reference of the event's run or evaluation.
func (e Event) WorkRef() WorkRef { return WorkRef{RunID: e.RunID, EvaluationID: e.EvaluationID} }

// WorkRef returns the reference of the result's run or evaluation.
func (r Result) WorkRef() WorkRef { return WorkRef{RunID: r.RunID, EvaluationID: r.EvaluationID} }
