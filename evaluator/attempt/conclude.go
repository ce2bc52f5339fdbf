package attempt

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/slots"
)

var (
	// ErrCancelled is the cause if the site cancelled the attempt.
	ErrCancelled = errors.New("the run was cancelled")
	// ErrStopping is the cause if the worker is stopping. The job is returned to the site.
	ErrStopping = errors.New("the worker is stopping")
)

// Rejection means that the submission failed: a normal end, not an infrastructure error.
type Rejection struct{ *job.Failure }

func (r Rejection) Error() string { return r.Reason }

// NewRejection returns a Rejection with a formatted reason of one sentence.
func NewRejection(format string, args ...any) error {
	return Rejection{&job.Failure{Reason: fmt.Sprintf(format, args...)}}
}

// causedByJobError is an infrastructure error that the job may have caused. The site retries such a job only a few
// times.
type causedByJobError struct{ error }

func (s causedByJobError) Unwrap() error { return s.error }

// MarkCausedByJob wraps an error that the job may have caused.
func MarkCausedByJob(err error) error { return causedByJobError{err} }

// IsHandedBack reports whether an attempt that ends with err returns its job to the site for another worker. Such an
// end does not count as a lost attempt.
func IsHandedBack(err error) bool {
	return errors.Is(err, ErrStopping) || errors.Is(err, slots.ErrOutOfService) || errors.Is(err, slots.ErrPreempted)
}

// Conclude completes the result. err is nil if everything passed, a Rejection, the cause of the attempt's context, or
// an infrastructure error.
func (a *Attempt) Conclude(err error) job.Result {
	r := &a.Result
	var rejected Rejection
	switch {
	case err == nil:
		r.Outcome = job.OutcomePassed
		a.Slot.ResetFaults()
	case errors.As(err, &rejected):
		r.Outcome, r.Failure = job.OutcomeFailed, rejected.Failure
		a.Slot.ResetFaults()
	case errors.Is(err, ErrCancelled):
		r.Outcome, r.Failure = job.OutcomeCancelled, &job.Failure{Reason: fmt.Sprintf("The run was cancelled%s.", a.currentStageText())}
	case IsHandedBack(err):
		r.Outcome = job.OutcomeHandedBack
		r.Failure = &job.Failure{
			IsInfrastructureError: true,
			Reason:                fmt.Sprintf("Worker %s handed the run back%s: %s", a.workerName, a.currentStageText(), ErrorSentence(err)),
		}
	default:
		r.Outcome = job.OutcomeLost
		r.Failure = &job.Failure{IsInfrastructureError: true, Reason: fmt.Sprintf("Worker %s could not evaluate the run%s: %s",
			a.workerName, a.currentStageText(), ErrorSentence(err))}
		r.CausedByJob = errors.As(err, new(causedByJobError)) || errors.Is(err, sandbox.ErrProcessStuck) || errors.Is(err, sandbox.ErrMachineMemory)
		a.Slot.CountFault(a.Job.WorkRef(), err)
	}
	r.WallNS = time.Since(a.startedAt).Nanoseconds()
	return *r
}

func (a *Attempt) currentStageText() string {
	if a.currentStage == "" {
		return ""
	}
	return fmt.Sprintf(" in its %s stage", a.currentStage)
}

// ErrorSentence formats an error as a sentence for a page.
func ErrorSentence(err error) string {
	text := strings.TrimSuffix(strings.TrimSpace(err.Error()), ".")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// TextMapSize returns the total size of keys and values in bytes.
func TextMapSize(m map[string]string) int {
	n := 0
	for k, v := range m {
		n += len(k) + len(v)
	}
	return n
}

// ShortenMiddle shortens s to about limit bytes by replacing its middle with a note.
func ShortenMiddle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	note := fmt.Sprintf(" [… %d bytes cut …] ", len(s)-limit)
	keep := max(0, limit-len(note))
	head, tail := strings.ToValidUTF8(s[:keep/2], ""), strings.ToValidUTF8(s[len(s)-keep/2:], "")
	return strings.TrimSpace(head + note + tail)
}
