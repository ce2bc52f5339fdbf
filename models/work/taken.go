package work

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// NoteTaken notes that a worker says it has these attempts, in case its event got lost. It returns what changed by
// that, and those of the attempts that count no more, or are another worker's: this one should drop them.
func (l *LifeCycle) NoteTaken(ctx context.Context, worker string, attemptIDs []string) (out Recorded, stale []string, err error) {
	if len(attemptIDs) == 0 {
		return out, nil, nil
	}
	live, err := liveAttempts(l.db.Read(ctx), "where a.id in ?", attemptIDs) // a sync of one of many reads no other's
	if err != nil {
		return out, nil, err
	}
	for _, id := range attemptIDs {
		i := slices.IndexFunc(live, func(a LiveAttempt) bool { return a.ID == id })
		if i < 0 || live[i].Worker != "" && live[i].Worker != db.Sanitize(worker) {
			stale = append(stale, id)
			continue
		}
		if live[i].TakenAt != nil {
			continue
		}
		if err := l.noteTaken(ctx, id, worker, &out); err != nil {
			return out, nil, err
		}
	}
	return out, stale, nil
}

func (l *LifeCycle) noteTaken(ctx context.Context, attemptID, worker string, out *Recorded) error {
	return l.db.Write(ctx, func(tx *gorm.DB) error {
		a, err := l.loadInFlight(tx, attemptID)
		if err != nil || a == nil || !a.current() || a.TakenAt != nil {
			return err
		}
		a.take(worker)
		if err := a.store(tx); err != nil {
			return err
		}
		return a.unit.announce(tx, out)
	})
}
