package models

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
)

// MaxLogBytes is how much log text of one attempt is kept as events. The stages of its result
// hold the program's output in any case.
const MaxLogBytes = 512 << 10

const logCut = "… The rest of the output is not shown while it runs; the ended stage holds its beginning and its end.\n"

// AppendEvents stores what workers told, in one transaction, and moves the runs on. It returns the
// events that are new, with their ids, and the attempts that count no more: their workers should
// drop them. Events that came before, or with a wrong secret, are left out.
func (s *Store) AppendEvents(ctx context.Context, batch []job.Event) (events []RunEvent, stale []string, err error) {
	if len(batch) == 0 {
		return nil, nil, nil
	}
	var p progress
	store := func(tx *gorm.DB) error {
		p = progress{tx: tx, attempts: map[string]*inFlight{}, stale: map[string]bool{}}
		return p.run(batch)
	}
	err = s.write(ctx, store)
	if KindOf(err) == Conflict { // one of the runs was cancelled meanwhile; the others' events still count
		err = s.write(ctx, store)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("storing %d events: %w", len(batch), err)
	}
	return p.events, slices.Collect(maps.Keys(p.stale)), nil
}

// progress is one batch of events on its way into the database.
type progress struct {
	tx       *gorm.DB
	attempts map[string]*inFlight
	stale    map[string]bool
	events   []RunEvent
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
		if e.Type == job.EventTaken && a.TakenAt != nil && a.Worker != clean(e.Worker) {
			a.takeOver(e.Worker) // the queue delivered the job again, because its first worker fell silent
		}
		if e.Seq <= a.LastSeq {
			continue
		}
		if err := p.apply(a, e); err != nil {
			return err
		}
	}
	for _, a := range p.attempts {
		if a == nil || !a.current() {
			continue
		}
		if err := a.store(p.tx); err != nil {
			return err
		}
	}
	if len(p.events) == 0 {
		return nil
	}
	return saving(p.tx.CreateInBatches(&p.events, 200).Error, "events")
}

// attempt returns the attempt that the event belongs to, nil if it does not count.
func (p *progress) attempt(e job.Event) (*inFlight, error) {
	a, seen := p.attempts[e.AttemptID]
	if !seen {
		var err error
		if a, err = loadInFlight(p.tx, e.AttemptID); err != nil {
			return nil, err
		}
		p.attempts[e.AttemptID] = a
	}
	switch {
	case a == nil || a.hasSecret(e.Secret) && !a.current():
		p.stale[e.AttemptID] = true
		return nil, nil
	case !a.hasSecret(e.Secret) || a.RunID != e.RunID:
		return nil, nil
	}
	return a, nil
}

func (p *progress) apply(a *inFlight, e job.Event) error {
	a.LastSeq = e.Seq
	a.take(e.Worker)
	switch e.Type {
	case job.EventStage:
		a.run.State = stateOf(e.Stage)
	case job.EventEnded:
		if e.Ended != nil {
			if err := noteStage(p.tx, a.RunID, a.ID, *e.Ended); err != nil {
				return err
			}
		}
	case job.EventLog:
		if a.LogBytes > MaxLogBytes {
			return nil
		}
		if a.LogBytes += int64(len(e.Text)); a.LogBytes > MaxLogBytes {
			e.Text = logCut
		}
	}
	e.Secret = ""
	p.events = append(p.events, RunEvent{
		SubmissionID: a.run.SubmissionID, RunID: a.RunID, Device: a.run.Device, AttemptID: a.ID, Seq: e.Seq,
		Type: job.EventType(clean(string(e.Type))), State: a.run.State, Event: &e, CreatedAt: now(),
	})
	return nil
}
