package evaluator

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
)

// conclude makes the result out of how run ended.
func (p *pipeline) conclude(err error) job.Result {
	if err == nil {
		err = p.score()
	}
	r := &p.result
	var rejected rejection
	switch {
	case err == nil:
		r.Outcome = job.OutcomeDone
		p.slot.worked()
	case errors.As(err, &rejected):
		r.Outcome, r.Failure = job.OutcomeFailed, rejected.Failure
		p.slot.worked()
	case errors.Is(err, errCancelled):
		r.Outcome, r.Failure = job.OutcomeCancelled, &job.Failure{Reason: fmt.Sprintf("The run was cancelled%s.", p.where())}
	case handedBack(err):
		r.Outcome = job.OutcomeReturned
		r.Failure = &job.Failure{Ours: true, Reason: fmt.Sprintf("Worker %s handed the run back%s: %s", p.w.cfg.Name, p.where(), sentence(err))}
	default:
		r.Outcome = job.OutcomeLost
		r.Failure = &job.Failure{Ours: true, Reason: fmt.Sprintf("Worker %s could not evaluate the run%s: %s",
			p.w.cfg.Name, p.where(), sentence(err))}
		r.Suspect = errors.As(err, new(suspect)) || errors.Is(err, sandbox.ErrStuck)
		p.slot.fault(err)
	}
	r.WallNS = time.Since(p.began).Nanoseconds()
	return *r
}

// suspect is an error of ours that the job may have brought about: it is not tried for ever.
type suspect struct{ error }

func (s suspect) Unwrap() error { return s.error }

// handedBack tells whether the job goes to another worker, and nothing is held against it.
func handedBack(err error) bool {
	return errors.Is(err, errStopping) || errors.Is(err, errOutOfService)
}

// score fills in the score of a ranked run that passed.
func (p *pipeline) score() error {
	for _, stage := range p.result.Stages {
		if stage.Stage != job.StageRanked {
			continue
		}
		score, err := harness.Score(p.job.Task.RankingBy, stage.Cases)
		if err != nil {
			return rejection{&job.Failure{Reason: sentence(err)}}
		}
		p.result.ScoreNS = &score
	}
	return nil
}

func (p *pipeline) where() string {
	if p.now == "" {
		return ""
	}
	return fmt.Sprintf(" in its %s stage", p.now)
}

// sentence makes an error's text fit for a page.
func sentence(err error) string {
	text := strings.TrimSuffix(strings.TrimSpace(err.Error()), ".")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
