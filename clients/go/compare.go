package client

import "warpboard/evaluator/job"

// Comparison compares two runs: GET /compare.json.
type Comparison struct {
	A                    ComparedRun    `json:"a"`
	B                    ComparedRun    `json:"b"`
	Ratio                *Ratio         `json:"ratio,omitempty" jsonschema:"B's score over A's; absent: they have no timed case in common"`
	Cases                []ComparedCase `json:"cases"`
	Case                 int            `json:"case" jsonschema:"of the profiles"`
	Kernels              []any          `json:"kernels" jsonschema:"each kernel's metrics on both sides"`
	MissingProfileReason string         `json:"no_profile" jsonschema:"why there are no kernels; empty: there are"`
	Explanation          any            `json:"because,omitempty" jsonschema:"reasons for the difference, from the profiles"`
}

// ComparedRun is one of the two runs of a comparison.
type ComparedRun struct {
	Run        int64    `json:"run"`
	Submission int64    `json:"submission"`
	User       string   `json:"user"`
	Device     string   `json:"device"`
	Mode       string   `json:"mode"`
	ScoreNS    *float64 `json:"score_ns,omitempty" jsonschema:"of the run's own times, as the ratio is"`

	BoardScoreNS *float64 `json:"board_score_ns,omitempty" jsonschema:"the score on the board, if a pool or a confirmation changed it"`
	PooledRuns   int      `json:"pooled_runs,omitempty" jsonschema:"how many runs that score combines"`
}

// ComparedCase is a benchmark case with the times of both runs.
type ComparedCase struct {
	Spec  string          `json:"spec"`
	A     *job.CaseResult `json:"a,omitempty" jsonschema:"absent: A did not run it"`
	B     *job.CaseResult `json:"b,omitempty"`
	Ratio *Ratio          `json:"ratio,omitempty"`
}

// Ratio is the time of run B divided by that of run A.
type Ratio struct {
	Value   float64  `json:"value"`
	Low     *float64 `json:"low,omitempty" jsonschema:"low end of its interval; absent: it has none"`
	High    *float64 `json:"high,omitempty"`
	IsClear *bool    `json:"apart,omitempty" jsonschema:"the data show a difference"`
}

// Profile is the report of Nsight Compute about one benchmark case of a run.
type Profile struct {
	Submission   int64  `json:"submission"`
	Run          int64  `json:"run"`
	Device       string `json:"device"`
	Case         int    `json:"case"`
	Report       any    `json:"report"`
	DerivedViews []any  `json:"views" jsonschema:"derived values of each kernel: roofline, stalls, findings"`
}
