package evaluator

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

// announcer publishes an attempt's events in their order. Events are a hint for watchers: one
// that cannot be sent is logged and forgotten.
type announcer struct {
	conn   Conn
	worker string
	job    job.Job
	log    *slog.Logger

	mu    sync.Mutex
	seq   int
	cases int // case events of this stage
}

func newAnnouncer(conn Conn, worker string, j job.Job, log *slog.Logger) *announcer {
	return &announcer{conn: conn, worker: worker, job: j, log: log}
}

func (a *announcer) publish(e job.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.Type == job.EventCase {
		if a.cases++; a.cases > e.Total+maxCaseEvents {
			return
		}
	}
	if e.Type == job.EventStage {
		a.cases = 0
	}
	a.seq++
	e.RunID, e.AttemptID, e.Secret, e.EvaluationID = a.job.RunID, a.job.AttemptID, a.job.Secret, a.job.EvaluationID
	e.Seq, e.Time, e.Worker = a.seq, time.Now().UTC(), a.worker
	if err := a.conn.PublishEvent(e); err != nil {
		a.log.Warn("event not sent", "attempt", e.AttemptID, "type", e.Type, "err", err)
	}
}

func (a *announcer) taken() { a.publish(job.Event{Type: job.EventTaken}) }

func (a *announcer) stage(stage job.Stage, total int) {
	a.publish(job.Event{Type: job.EventStage, Stage: stage, Total: total})
}

func (a *announcer) caseEnded(stage job.Stage, c job.CaseResult, total int) {
	c.Times = nil // the result has them
	a.publish(job.Event{Type: job.EventCase, Stage: stage, Case: &c, Total: total})
}

// ended tells how a stage ended, with its cases for those who look at it before the run is over.
func (a *announcer) ended(r job.StageResult) {
	r.Stdout, r.Stderr = "", ""
	if textSize(r.Extra) > endedText {
		r.Extra = nil
	}
	r.Cases = slices.Clone(r.Cases)
	for i := range r.Cases {
		r.Cases[i].Times = nil
		r.Cases[i].Message = cut(r.Cases[i].Message, caseText)
	}
	a.publish(job.Event{Type: job.EventEnded, Stage: r.Stage, Ended: &r})
}

// logs returns what passes a stage's output on. Close it before the stage is said to have ended.
func (a *announcer) logs(stage job.Stage) *stageLog {
	stream := func(name string) *logStream {
		return newLogStream(func(text string) {
			a.publish(job.Event{Type: job.EventLog, Stage: stage, Stream: name, Text: text})
		})
	}
	return &stageLog{stdout: stream("stdout"), stderr: stream("stderr")}
}
