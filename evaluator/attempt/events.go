package attempt

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"warpboard/evaluator/job"
)

// What an event about a stage's end carries of the texts of one case and of all further keys, in
// bytes; the result has the rest.
const (
	caseText  = 512
	endedText = 16 << 10
)

// maxCaseEvents bounds the case events of a stage beyond its number of cases; a program can
// report the same case again and again.
const maxCaseEvents = 1000

// events publishes an attempt's events in their order. Events are a hint for watchers: one that cannot be sent is logged and
// dropped.
type events struct {
	publisher Publisher
	worker    string
	job       job.Job
	log       *slog.Logger

	mu    sync.Mutex
	seq   int
	cases int // case events of this stage
}

func (s *events) publish(e job.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Type == job.EventCase {
		if s.cases++; s.cases > e.Total+maxCaseEvents {
			return
		}
	}
	if e.Type == job.EventStage {
		s.cases = 0
	}
	s.seq++
	e.RunID, e.AttemptID, e.Secret, e.EvaluationID = s.job.RunID, s.job.AttemptID, s.job.Secret, s.job.EvaluationID
	e.Seq, e.Time, e.Worker = s.seq, time.Now().UTC(), s.worker
	if err := s.publisher.PublishEvent(e); err != nil {
		s.log.Warn("event not sent", "attempt", e.AttemptID, "type", e.Type, "err", err)
	}
}

// Taken announces that the worker has begun.
func (a *Attempt) Taken() { a.events.publish(job.Event{Type: job.EventTaken}) }

// Case announces that a case of a stage with so many has ended.
func (a *Attempt) Case(stage job.Stage, c job.CaseResult, total int) {
	c.Times = nil // the result has them
	a.events.publish(job.Event{Type: job.EventCase, Stage: stage, Case: &c, Total: total})
}

// ended announces how a stage ended, with its cases for people who watch the run.
func (s *events) ended(r job.StageResult) {
	r.Stdout, r.Stderr, r.Findings = "", "", nil
	if TextSize(r.Extra) > endedText {
		r.Extra = nil
	}
	r.Cases = slices.Clone(r.Cases)
	for i := range r.Cases {
		r.Cases[i].Times = nil
		r.Cases[i].Message = Cut(r.Cases[i].Message, caseText)
	}
	s.publish(job.Event{Type: job.EventEnded, Stage: r.Stage, Ended: &r})
}

// Logs returns what passes a stage's output on. Close it before Leave.
func (a *Attempt) Logs(stage job.Stage) *StageLog {
	stream := func(name string) *logStream {
		return newLogStream(func(text string) {
			a.events.publish(job.Event{Type: job.EventLog, Stage: stage, Stream: name, Text: text})
		})
	}
	return &StageLog{stdout: stream("stdout"), stderr: stream("stderr")}
}
