package job

import "strconv"

// Ref identifies a piece of work: a run by its number, or an evaluation by its ID. The other one is zero.
type Ref struct {
	RunID        int64
	EvaluationID string
}

// Noun returns "run" or "evaluation".
func (r Ref) Noun() string {
	if r.EvaluationID != "" {
		return "evaluation"
	}
	return "run"
}

// ID returns the number of the run or the ID of the evaluation.
func (r Ref) ID() string {
	if r.EvaluationID != "" {
		return r.EvaluationID
	}
	return strconv.FormatInt(r.RunID, 10)
}

// String returns "run 17" or "evaluation 3f0c…".
func (r Ref) String() string { return r.Noun() + " " + r.ID() }

// Ref identifies the work of the job.
func (j Job) Ref() Ref { return Ref{RunID: j.RunID, EvaluationID: j.EvaluationID} }

// Ref identifies the work of the event.
func (e Event) Ref() Ref { return Ref{RunID: e.RunID, EvaluationID: e.EvaluationID} }

// Ref identifies the work of the result.
func (r Result) Ref() Ref { return Ref{RunID: r.RunID, EvaluationID: r.EvaluationID} }
