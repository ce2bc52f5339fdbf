package work

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"warpboard/models/db"
)

// Known divides attempts that a worker says it has, each once: those that are live and may be its own, and those that it should
// drop. A worker can invent as many ids as fit into its message.
func (l *LifeCycle) Known(ctx context.Context, worker string, attemptIDs []string) (known, stale []string, err error) {
	live, err := l.liveOf(ctx, worker, attemptIDs)
	for _, id := range slices.Compact(slices.Sorted(slices.Values(attemptIDs))) {
		if _, ok := live[id]; ok {
			known = append(known, id)
		} else {
			stale = append(stale, id)
		}
	}
	return known, stale, err
}

// NoteTaken notes that a worker has these attempts, in case its event got lost. It returns the changes, and the attempts
// that no longer count, or are another worker's: this worker should drop them.
func (l *LifeCycle) NoteTaken(ctx context.Context, worker string, attemptIDs []string) (out Recorded, stale []string, err error) {
	live, err := l.liveOf(ctx, worker, attemptIDs)
	if err != nil {
		return out, nil, err
	}
	for _, id := range attemptIDs {
		a, ok := live[id]
		if !ok {
			stale = append(stale, id)
			continue
		}
		if a.TakenAt != nil {
			continue
		}
		if err := l.noteTaken(ctx, id, worker, &out); err != nil {
			return out, nil, err
		}
	}
	return out, stale, nil
}

// liveOf finds which of the attempts are live and may be the worker's.
func (l *LifeCycle) liveOf(ctx context.Context, worker string, ids []string) (map[string]LiveAttempt, error) {
	live, err := l.liveAmong(ctx, ids)
	worker = db.Sanitize(worker)
	maps.DeleteFunc(live, func(_ string, a LiveAttempt) bool { return a.Worker != "" && a.Worker != worker })
	return live, err
}

// idsAtOnce is how many attempts one question names.
const idsAtOnce = 512

// liveAmong finds which of the attempts are live, and reads only those, because many workers ask. Texts that are not ids of
// the site are not queried. The numbers of parameters are powers of two, because a statement for each number is cached for
// good.
func (l *LifeCycle) liveAmong(ctx context.Context, ids []string) (map[string]LiveAttempt, error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return len(id) != attemptIDLength || uuid.Validate(id) != nil })
	found := make(map[string]LiveAttempt)
	for part := range slices.Chunk(ids, idsAtOnce) {
		for n := len(part); n&(n-1) != 0; n++ {
			part = append(slices.Clip(part), part[0])
		}
		list, err := liveAttempts(l.db.Read(ctx), "where a.id in ?", part)
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			found[a.ID] = a
		}
	}
	return found, nil
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
