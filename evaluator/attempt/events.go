package attempt

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"warpboard/evaluator/job"
)

// Limits for an event about the end of a stage, in bytes: of the message of one case, and of all additional keys. The
// result contains everything.
const (
	maxEndedCaseText = 512
	maxEndedKeysText = 16 << 10
)

// maxCaseEvents limits the case events of a stage in addition to its number of cases, because a program can report a
// case repeatedly.
const maxCaseEvents = 1000

// eventPublisher publishes an attempt's events in order. An event that cannot be sent is logged and dropped.
type eventPublisher struct {
	publisher Publisher
	worker    string
	job       job.Job
	log       *slog.Logger

	mu             sync.Mutex
	sequence       int
	caseEventCount int // number of case events of this stage
}

func (s *eventPublisher) publish(e job.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Type == job.EventCaseEnded {
		if s.caseEventCount++; s.caseEventCount > e.CaseCount+maxCaseEvents {
			return
		}
	}
	if e.Type == job.EventStageStarted {
		s.caseEventCount = 0
	}
	s.sequence++
	e.RunID, e.AttemptID, e.AttemptSecret, e.EvaluationID = s.job.RunID, s.job.AttemptID, s.job.AttemptSecret, s.job.EvaluationID
	e.Number, e.Time, e.Worker = s.sequence, time.Now().UTC(), s.worker
	if err := s.publisher.PublishEvent(e); err != nil {
		s.log.Warn("event not sent", "attempt", e.AttemptID, "type", e.Type, "err", err)
	}
}

// AnnounceStart announces that the worker has started the attempt.
func (a *Attempt) AnnounceStart() { a.eventPublisher.publish(job.Event{Type: job.EventAttemptStarted}) }

// AnnounceCase announces the result of a case of a stage with total cases.
func (a *Attempt) AnnounceCase(stage job.Stage, c job.CaseResult, total int) {
	c.Times = nil // omit the times, which the result has
	a.eventPublisher.publish(job.Event{Type: job.EventCaseEnded, Stage: stage, Case: &c, CaseCount: total})
}

// publishStageEnd announces the result of a stage, with short results of its cases.
func (s *eventPublisher) publishStageEnd(r job.StageResult) {
	r.Stdout, r.Stderr, r.Findings = "", "", nil
	if TextMapSize(r.ExtraKeys) > maxEndedKeysText {
		r.ExtraKeys = nil
	}
	r.Cases = slices.Clone(r.Cases)
	for i := range r.Cases {
		r.Cases[i].Times = nil
		r.Cases[i].Message = ShortenMiddle(r.Cases[i].Message, maxEndedCaseText)
	}
	s.publish(job.Event{Type: job.EventStageEnded, Stage: r.Stage, EndedStage: &r})
}

// NewStageLog returns a StageLog that forwards a stage's output. Close it before StoreStage.
func (a *Attempt) NewStageLog(stage job.Stage) *StageLog {
	stream := func(name string) *logStream {
		return newLogStream(func(text string) {
			a.eventPublisher.publish(job.Event{Type: job.EventLog, Stage: stage, Stream: name, Text: text})
		})
	}
	return &StageLog{stdout: stream("stdout"), stderr: stream("stderr")}
}
