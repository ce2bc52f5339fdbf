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

// MaxEventBytes limits the stored events of one attempt; without output it is twice as much. One byte of other events
// counts as 1/lightness byte of output. 10,000 cases have about 3 MB.
const (
	eventWeight   = 32
	MaxEventBytes = eventWeight * MaxLogBytes
)

const logCutNote = "… The rest of the output is not shown while it runs; the ended stage holds its beginning and its end.\n"

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
	live, err := l.liveAmong(ctx, slices.Collect(maps.Keys(ids)))
	if err != nil {
		return out, nil, err
	}
	var p progress
	full, _, err := l.disk.Full()
	if err != nil {
		return out, nil, err
	}
	store := func(tx *gorm.DB) error {
		p = progress{
			l: l, tx: tx, live: live, full: full, attempts: map[string]*inFlight{},
			changed: map[string]bool{}, stale: map[string]bool{},
		}
		return p.run(batch)
	}
	err = l.db.Write(ctx, store)
	if db.KindOf(err) == db.Conflict { // one of the runs was cancelled meantime; the others' events still count
		err = l.db.Write(ctx, store)
	}
	if err != nil {
		return out, nil, fmt.Errorf("storing %d events: %w", len(batch), err)
	}
	return p.out, slices.Collect(maps.Keys(p.stale)), nil
}

// progress is the state of storing one batch of events.
type progress struct {
	l        *LifeCycle
	tx       *gorm.DB
	live     map[string]LiveAttempt // read before the transaction, to keep that short
	attempts map[string]*inFlight
	changed  map[string]bool
	stale    map[string]bool
	full     bool // the disk is full: events take effect, but are not stored
	out      Effect
}

func (p *progress) run(batch []job.Event) error {
	for _, e := range batch {
		a, err := p.attempt(e)
		if err != nil {
			return err
		}
		if a == nil {
			continue
		}
		if e.Seq <= a.LastSeq {
			continue
		}
		if err := p.apply(a, e); err != nil {
			return err
		}
	}
	if err := p.storeChanged(); err != nil || len(p.out.Events) == 0 {
		return err
	}
	return db.WriteError(p.tx.CreateInBatches(&p.out.Events, 200).Error, "events")
}

func (p *progress) storeChanged() error {
	for id := range p.changed {
		a := p.attempts[id]
		if err := a.store(p.tx); err != nil {
			return err
		}
		if e, ok := a.item.(*Evaluation); ok { // watchers of a run get each event
			p.out.Evaluations = append(p.out.Evaluations, *e)
		}
	}
	return nil
}

// attempt returns the attempt that an event belongs to, or nil if the event does not count.
func (p *progress) attempt(e job.Event) (*inFlight, error) {
	a, seen := p.attempts[e.AttemptID]
	if _, ok := p.live[e.AttemptID]; !ok {
		p.stale[e.AttemptID] = true
		return nil, nil
	}
	if !seen {
		var err error
		if a, err = p.l.loadInFlight(p.tx, e.AttemptID); err != nil {
			return nil, err
		}
		p.attempts[e.AttemptID] = a
	}
	switch {
	case a == nil || a.hasSecret(e.Secret) && !a.current():
		p.stale[e.AttemptID] = true
		return nil, nil
	case !a.hasSecret(e.Secret) || a.Ref() != e.Ref():
		return nil, nil
	}
	return a, nil
}

func (p *progress) apply(a *inFlight, e job.Event) error {
	p.changed[a.ID] = true
	a.LastSeq = e.Seq
	a.take(e.Worker)
	if e.Type == job.EventStage {
		a.item.setStage(e.Stage)
	}
	if run, ok := a.item.(runItem); ok {
		return p.keepEvent(a, run.Run, e)
	}
	return nil
}

// keepEvent stores an event for the page of a run, and the stage that it contains.
func (p *progress) keepEvent(a *inFlight, run *Run, e job.Event) error {
	if p.full || a.LogBytes > 2*MaxLogBytes {
		return nil
	}
	if e.Type == job.EventEnded && e.EndedStage != nil {
		if err := storeStage(p.tx, run.ID, a.ID, *e.EndedStage); err != nil {
			return err
		}
	}
	if !hideTimes(&e) {
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
		e.Text = logCutNote
	}
	e.Secret = ""
	p.out.Events = append(p.out.Events, RunEvent{
		SubmissionID: run.SubmissionID, RunID: run.ID, Device: run.Device, AttemptID: a.ID, Seq: e.Seq,
		Type: job.EventType(db.Sanitize(string(e.Type))), State: run.State, Event: &e, CreatedAt: db.Now(),
	})
	return nil
}

// hideTimes removes the times of a running ranked stage from an event, because a person who sees them could cancel a
// slow run. It reports whether anything remains. The ended stage has all times.
func hideTimes(e *job.Event) (left bool) {
	if e.Stage != job.StageRanked && e.Stage != job.StageSecret {
		return true
	}
	if e.Case != nil {
		e.Case = &job.CaseResult{Index: e.Case.Index, Spec: e.Case.Spec, Status: e.Case.Status}
	}
	return e.Type != job.EventLog
}
