package work

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

// MaxLogBytes limits the output of one attempt that is stored as events. The stages of the result contain the output in
// any case.
const MaxLogBytes = 512 << 10

// MaxEventBytes limits the bytes of an attempt's stored events other than output, if its output reaches MaxLogBytes.
// Without output, twice as many are stored: each byte counts as 1/eventWeight byte of output. The events of 10,000
// cases have about 3 MB.
const (
	eventWeight   = 32
	MaxEventBytes = eventWeight * MaxLogBytes
)

const truncatedLogNote = "… The rest of the output is not shown while it runs; the ended stage holds its beginning and its end.\n"

// AppendEvents stores events of workers in one transaction and updates their work. It returns the effects, the new
// events with their IDs, and the attempts that no longer count, which the workers should stop. It skips events that
// were stored before or have a wrong secret.
func (l *LifeCycle) AppendEvents(ctx context.Context, batch []job.Event) (out Effect, stale []string, err error) {
	if len(batch) == 0 {
		return out, nil, nil
	}
	ids := make(map[string]bool)
	for _, e := range batch {
		ids[e.AttemptID] = true
	}
	live, err := l.liveAttemptsAmong(ctx, slices.Collect(maps.Keys(ids)))
	if err != nil {
		return out, nil, err
	}
	var p eventBatch
	full, _, err := l.disk.IsNearlyFull()
	if err != nil {
		return out, nil, err
	}
	store := func(tx *gorm.DB) error {
		p = eventBatch{
			lifeCycle: l, tx: tx, liveAttempts: live, omitsStorage: full, attempts: map[string]*attemptWithWork{},
			changedAttempts: map[string]bool{}, staleAttempts: map[string]bool{},
		}
		return p.storeBatch(batch)
	}
	err = l.db.Write(ctx, store)
	// one of the runs was cancelled in the meantime; the events of the others still count
	if db.KindOf(err) == db.Conflict {
		err = l.db.Write(ctx, store)
	}
	if err != nil {
		return out, nil, fmt.Errorf("storing %d events: %w", len(batch), err)
	}
	return p.effect, slices.Collect(maps.Keys(p.staleAttempts)), nil
}

// eventBatch is the state of storing one batch of events.
type eventBatch struct {
	lifeCycle       *LifeCycle
	tx              *gorm.DB
	liveAttempts    map[string]LiveAttempt // read before the transaction, to keep that short
	attempts        map[string]*attemptWithWork
	changedAttempts map[string]bool
	staleAttempts   map[string]bool
	omitsStorage    bool // the disk is full: events take effect, but are not stored
	effect          Effect
}

func (p *eventBatch) storeBatch(batch []job.Event) error {
	for _, e := range batch {
		a, err := p.attempt(e)
		if err != nil {
			return err
		}
		if a == nil {
			continue
		}
		if e.Number <= a.LastSeq {
			continue
		}
		if err := p.applyEvent(a, e); err != nil {
			return err
		}
	}
	if err := p.storeChanged(); err != nil || len(p.effect.Events) == 0 {
		return err
	}
	return db.WriteError(p.tx.CreateInBatches(&p.effect.Events, 200).Error, "events")
}

func (p *eventBatch) storeChanged() error {
	for id := range p.changedAttempts {
		a := p.attempts[id]
		if err := a.saveRows(p.tx); err != nil {
			return err
		}
		if e, ok := a.workItem.(*Evaluation); ok { // watchers of a run get each event
			p.effect.Evaluations = append(p.effect.Evaluations, *e)
		}
	}
	return nil
}

// attempt returns the attempt that an event belongs to, or nil if the event does not count.
func (p *eventBatch) attempt(e job.Event) (*attemptWithWork, error) {
	a, seen := p.attempts[e.AttemptID]
	if _, ok := p.liveAttempts[e.AttemptID]; !ok {
		p.staleAttempts[e.AttemptID] = true
		return nil, nil
	}
	if !seen {
		var err error
		if a, err = p.lifeCycle.loadAttemptWithWork(p.tx, e.AttemptID); err != nil {
			return nil, err
		}
		p.attempts[e.AttemptID] = a
	}
	switch {
	case a == nil || a.hasSecret(e.AttemptSecret) && !a.acceptsMessages():
		p.staleAttempts[e.AttemptID] = true
		return nil, nil
	case !a.hasSecret(e.AttemptSecret) || a.WorkRef() != e.WorkRef():
		return nil, nil
	}
	return a, nil
}

func (p *eventBatch) applyEvent(a *attemptWithWork, e job.Event) error {
	p.changedAttempts[a.ID] = true
	a.LastSeq = e.Number
	a.recordReceipt(e.Worker)
	if e.Type == job.EventStageStarted {
		a.workItem.setStage(e.Stage)
	}
	if run, ok := a.workItem.(runItem); ok {
		return p.keepEvent(a, run.Run, e)
	}
	return nil
}

// keepEvent stores an event for the page of a run, and the stage that it contains.
func (p *eventBatch) keepEvent(a *attemptWithWork, run *Run, e job.Event) error {
	if p.omitsStorage || a.LogBytes > 2*MaxLogBytes {
		return nil
	}
	if e.Type == job.EventStageEnded && e.EndedStage != nil {
		if err := storeStage(p.tx, run.ID, a.ID, *e.EndedStage); err != nil {
			return err
		}
	}
	if !hideRankedTimes(&e) {
		return nil
	}
	if e.Type != job.EventLog {
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		a.LogBytes += int64(len(data)) / eventWeight
	} else if a.LogBytes > MaxLogBytes {
		return nil
	} else if a.LogBytes += int64(len(e.Text)); a.LogBytes > MaxLogBytes {
		e.Text = truncatedLogNote
	}
	e.AttemptSecret = ""
	p.effect.Events = append(p.effect.Events, RunEvent{
		SubmissionID: run.SubmissionID, RunID: run.ID, Device: run.Device, AttemptID: a.ID, Seq: e.Number,
		Type: job.EventType(db.SanitizeText(string(e.Type))), State: run.State, Event: &e, CreatedAt: db.Now(),
	})
	return nil
}

// hideRankedTimes removes the times of a running ranked stage from an event, because a person who sees them could
// cancel a slow run. It reports whether anything remains. The ended stage has all times.
func hideRankedTimes(e *job.Event) (left bool) {
	if e.Stage != job.StageRanked && e.Stage != job.StageSecret {
		return true
	}
	if e.Case != nil {
		e.Case = &job.CaseResult{Index: e.Case.Index, SpecLine: e.Case.SpecLine, Status: e.Case.Status}
	}
	return e.Type != job.EventLog
}
