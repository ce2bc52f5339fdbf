package work

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"warpboard/models/db"
	"warpboard/models/fleet"
)

// NoteTaken notes that a worker says it has these attempts, in case its event got lost. It returns what changed by
// that, and those of the attempts that count no more: the worker should drop them. An attempt that another worker
// took, and has no more, is from now on this one's. What it says of a device that it may not work for is ignored;
// to have that dropped would stop who really has it.
func (l *LifeCycle) NoteTaken(ctx context.Context, worker string, attemptIDs []string) (out Recorded, stale []string, err error) {
	if len(attemptIDs) == 0 {
		return out, nil, nil
	}
	live, err := l.liveAttempts(ctx, "where a.id in ?", attemptIDs) // a heartbeat of one of many reads no other's
	if err != nil {
		return out, nil, err
	}
	for _, id := range attemptIDs {
		i := slices.IndexFunc(live, func(a LiveAttempt) bool { return a.ID == id })
		if i < 0 {
			stale = append(stale, id)
			continue
		}
		if may, err := l.mayTakeOver(ctx, live[i], worker); err != nil {
			return out, nil, err
		} else if !may {
			continue
		}
		if err := l.noteTaken(ctx, id, worker, &out); err != nil {
			return out, nil, err
		}
	}
	return out, stale, nil
}

// mayTakeOver reports whether a worker that says it has an attempt is to be believed: nobody else has it, and the
// worker may work for its device. It asks the store for few, because events are seldom lost.
func (l *LifeCycle) mayTakeOver(ctx context.Context, a LiveAttempt, worker string) (bool, error) {
	if a.TakenAt != nil {
		if free, err := l.letGo(ctx, a, worker); err != nil || !free {
			return false, err
		}
	}
	may, err := l.fleet.MayTake(ctx, worker)
	return err == nil && may(a.Device), err
}

// letGo reports whether the worker that took an attempt has it no more, so that another one that says it
// has may be believed: the queue delivered the job again.
func (l *LifeCycle) letGo(ctx context.Context, a LiveAttempt, to string) (bool, error) {
	if a.Worker == db.Sanitize(to) {
		return false, nil
	}
	var from fleet.Worker
	found := l.db.Read(ctx).Where("name = ?", a.Worker).Limit(1).Find(&from)
	if found.Error != nil {
		return false, db.ReadError(found.Error, "worker %s", a.Worker)
	}
	gone := !from.Live(db.Now()) || from.SeenAt.After(*a.TakenAt) && !slices.Contains(from.Attempts, a.ID)
	return found.RowsAffected == 0 || gone, nil
}

func (l *LifeCycle) noteTaken(ctx context.Context, attemptID, worker string, out *Recorded) error {
	return l.db.Write(ctx, func(tx *gorm.DB) error {
		a, err := l.loadInFlight(tx, attemptID)
		if err != nil || a == nil || !a.current() || a.Worker == db.Sanitize(worker) {
			return err
		}
		a.takeOver(worker)
		if err := a.store(tx); err != nil {
			return err
		}
		return a.unit.announce(tx, out)
	})
}
