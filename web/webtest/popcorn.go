package webtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/popcorn/popcorntest"
)

// Popcorn returns a client that imitates popcorn-cli, with a new token of a person.
func (s *Site) Popcorn(user accounts.User) *popcorntest.Client {
	s.T.Helper()
	secret, _, err := s.Cfg.Store.Accounts.CreateToken(s.T.Context(), user.ID, "popcorn", 0)
	if err != nil {
		s.T.Fatal(err)
	}
	return &popcorntest.Client{Base: s.URL + "/popcorn", Token: secret, Poll: time.Millisecond}
}

// When ends the only run of a submission with the function end, and notifies open pages.
func (s *Site) When(id int64, end func(work.Run) work.Effect) {
	s.T.Helper()
	runs, err := s.Cfg.Store.Work.Runs(s.T.Context(), id)
	if err != nil || len(runs) != 1 {
		s.T.Fatal(runs, err)
	}
	s.Tell(end(runs[0]))
}

// Passes ends a run successfully.
func (s *Site) Passes(run work.Run) work.Effect {
	return modelstest.Finish(s.T, s.Cfg.Store, run, 1234.5)
}

// Fails returns a function that ends a run with the given failed stage.
func (s *Site) Fails(stage job.StageResult) func(work.Run) work.Effect {
	return func(run work.Run) work.Effect {
		s.T.Helper()
		attempt, err := s.Cfg.Store.Work.StartAttempt(s.T.Context(), run.WorkRef())
		if err != nil {
			s.T.Fatal(err)
		}
		stage.StartedAt, stage.EndedAt = time.Now().UTC(), time.Now().UTC()
		out, err := s.Cfg.Store.Work.RecordResult(s.T.Context(),
			job.Result{RunID: run.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret,
				Outcome: job.OutcomeFailed, Failure: stage.Failure, Stages: []job.StageResult{stage},
				HarnessName: "warpboard/cpp", Machine: job.Machine{Worker: "w1"}}, work.ResultFindings{})
		if err != nil {
			s.T.Fatal(err)
		}
		return out
	}
}

// PopcornWrong returns the result of a test stage with a wrong answer.
func PopcornWrong() job.StageResult {
	return job.StageResult{Stage: job.StageTest, Status: job.StatusFail, Stdout: "hello",
		Cases: []job.CaseResult{{SpecLine: "size: 8; seed: 1", Status: job.StatusFail, Message: "expected 15, got -7"}},
		Failure: &job.Failure{Stage: job.StageTest,
			Reason: "The test case size: 8; seed: 1 gave a wrong answer: expected 15, got -7\x1b[2J."}}
}

// Refused returns "STATUS DETAIL" for an error that is a refusal by popcorn-cli's API. It returns "" for other errors,
// and for a refusal whose body has no detail or not the expected fields.
func Refused(err error) string {
	var r *popcorntest.Refusal
	if !errors.As(err, &r) || r.Detail == "" {
		return ""
	}
	var whole map[string]any
	if json.Unmarshal([]byte(r.Body), &whole) == nil && r.Status < 600 && len(whole) == 1 ||
		whole["raw_error"] == nil && len(whole) == 4 {
		return fmt.Sprint(r.Status, " ", r.Detail)
	}
	return ""
}
