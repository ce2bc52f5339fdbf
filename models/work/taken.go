package work

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"warpboard/models/db"
)

// ClassifyAttempts classifies the attempts that a worker reports. known has the attempts that are live and may be the
// worker's; fresh has those in known that were not reported before; stale has those that the worker should stop. A
// worker can report as many invented IDs as fit into a message.
func (l *LifeCycle) ClassifyAttempts(
	ctx context.Context, worker string, attemptIDs []string,
) (known, fresh, stale []string, err error) {
	live, err := l.liveAttemptsAmong(ctx, attemptIDs)
	for _, id := range slices.Compact(slices.Sorted(slices.Values(attemptIDs))) {
		a, ok := live[id]
		if !ok || !a.mayBelongTo(worker) {
			stale = append(stale, id)
			continue
		}
		known = append(known, id)
		if a.ReceivedAt == nil {
			fresh = append(fresh, id)
		}
	}
	return known, fresh, stale, err
}

// mayBelongTo reports whether the attempt belongs to the worker, or to none yet.
func (a Attempt) mayBelongTo(worker string) bool {
	return a.Worker == "" || a.Worker == db.SanitizeText(worker)
}

// RecordAttemptsReceived stores that a worker has received these attempts, in case the event that reports it was lost.
func (l *LifeCycle) RecordAttemptsReceived(
	ctx context.Context, worker string, attemptIDs ...string,
) (out Effect, err error) {
	for _, id := range attemptIDs {
		if err := l.recordReceivedAttempt(ctx, id, worker, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// maxIDsPerQuery limits the attempts in one query.
const maxIDsPerQuery = 512

// liveAttemptsAmong returns the live attempts among IDs. It reads only these attempts, because many workers ask, and
// ignores texts that are not IDs. The number of parameters is rounded up to a power of two, because the database caches
// one statement for each number.
func (l *LifeCycle) liveAttemptsAmong(ctx context.Context, ids []string) (map[string]LiveAttempt, error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return len(id) != attemptIDLength || uuid.Validate(id) != nil })
	found := make(map[string]LiveAttempt)
	for part := range slices.Chunk(ids, maxIDsPerQuery) {
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

func (l *LifeCycle) recordReceivedAttempt(ctx context.Context, attemptID, worker string, out *Effect) error {
	return l.db.Write(ctx, func(tx *gorm.DB) error {
		a, err := l.loadAttemptWithWork(tx, attemptID)
		if err != nil || a == nil || !a.acceptsMessages() || a.ReceivedAt != nil || !a.mayBelongTo(worker) {
			return err
		}
		a.recordReceipt(worker)
		if err := a.saveRows(tx); err != nil {
			return err
		}
		return a.workItem.announce(tx, out)
	})
}
