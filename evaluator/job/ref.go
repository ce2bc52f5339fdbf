package job

import "strconv"

// Ref names a unit of work: a run by its number, or an evaluation by its id. One of the two is zero.
type Ref struct {
	RunID        int64
	EvaluationID string
}

// Noun is what people call it.
func (r Ref) Noun() string {
	if r.EvaluationID != "" {
		return "evaluation"
	}
	return "run"
}

// ID is its name in logs.
func (r Ref) ID() string {
	if r.EvaluationID != "" {
		return r.EvaluationID
	}
	return strconv.FormatInt(r.RunID, 10)
}

// String is "run 17" or "evaluation 3f0c…".
func (r Ref) String() string { return r.Noun() + " " + r.ID() }

// Ref names the work that the job is an attempt at.
func (j Job) Ref() Ref { return Ref{RunID: j.RunID, EvaluationID: j.EvaluationID} }

// Ref names the work that the event is about.
func (e Event) Ref() Ref { return Ref{RunID: e.RunID, EvaluationID: e.EvaluationID} }

// Ref names the work that the result belongs to.
func (r Result) Ref() Ref { return Ref{RunID: r.RunID, EvaluationID: r.EvaluationID} }
