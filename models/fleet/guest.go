package fleet

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

const (
	// guestRemovedAfter is the time without a heartbeat after which a guest (a worker that joined with a token) is
	// removed.
	guestRemovedAfter = 24 * time.Hour
	// guestArrivalTimeout is the time after joining for which a guest counts as connected without a heartbeat.
	guestArrivalTimeout = time.Minute
	// guestTimeout is the time for which a guest without heartbeats counts as connected. Workers send a heartbeat at
	// once after connecting.
	guestTimeout = 15 * time.Minute
	// guestNameReservation is the time for which the name of a guest that left stays reserved, with a revoked
	// credential. A connection under that name may last as long: a NATS cluster takes ten minutes to end it
	// (authorizedFor in evaluator/queue). A name without a credential could be claimed by the site's own worker.
	guestNameReservation = 15 * time.Minute
)

const (
	liveWorkersSQL     = "select name from workers where not stopping and seen_at > ?"
	workerNeverSeenSQL = "not exists (select 1 from workers w where w.name = worker_credentials.name and w.seen_at >= worker_credentials.created_at)"
)

// countGuests counts the workers of a token that are connected or arriving, without the worker named but.
func countGuests(tx *gorm.DB, tokenID int64, but string) (int, error) {
	var n int64
	at := db.Now()
	err := tx.Model(&WorkerCredential{}).Where("join_id = ? and revoked_at is null and name <> ?", tokenID, but).
		Where("created_at > ? or name in ("+liveWorkersSQL+") or "+workerNeverSeenSQL, db.NormalizeTime(at.Add(-guestArrivalTimeout)), db.NormalizeTime(at.Add(-WorkerTimeout))).
		Count(&n).Error
	return int(n), db.ReadError(err, "workers of a join token")
}

// isConnected reports whether a guest counts as connected: it joined a moment ago, or sent a heartbeat recently. A
// worker that did not join with a token always counts.
func (c WorkerCredential) isConnected(tx *gorm.DB) (bool, error) {
	if c.JoinTokenID == 0 || db.Now().Sub(c.CreatedAt) < guestArrivalTimeout {
		return true, nil
	}
	var n int64
	err := tx.Table("workers").Where("name = ? and name in ("+liveWorkersSQL+")", c.Name, db.NormalizeTime(db.Now().Add(-WorkerTimeout))).Count(&n).Error
	return n > 0, db.ReadError(err, "worker %s", c.Name)
}

// mayStoreHeartbeat reports whether a worker's heartbeat may be stored. A guest that was away returns only while its
// token admits another worker.
func (s *Fleet) mayStoreHeartbeat(
	ctx context.Context, cred WorkerCredential, h job.Heartbeat, save func(tx *gorm.DB) error,
) error {
	if h.IsStopping || cred.RevokedAt != nil {
		return save(s.db.WriteStatement(ctx))
	}
	if here, err := cred.isConnected(s.db.Read(ctx)); err != nil || here {
		if err != nil {
			return err
		}
		return save(s.db.WriteStatement(ctx))
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		var token JoinToken
		if err := tx.Take(&token, cred.JoinTokenID).Error; err != nil {
			return db.ReadError(err, "join token %d", cred.JoinTokenID)
		}
		others, err := countGuests(tx, cred.JoinTokenID, cred.Name)
		switch {
		case err != nil:
			return err
		case others >= token.MaxWorkers:
			return db.Errorf(db.Conflict, "The join token %s admits %d workers at a time, and all of these places are taken. Worker %s waits until one leaves.", token.Name, token.MaxWorkers, cred.Name)
		}
		return save(tx)
	})
}

// revokeOnLeave revokes the credential of a guest that leaves. It does not delete it, because the guest's connection
// may still be open.
func (s *Fleet) revokeOnLeave(ctx context.Context, name string) error {
	err := s.db.WriteStatement(ctx).Model(&WorkerCredential{}).Where("name = ? and join_id > 0 and revoked_at is null", name).Update("revoked_at", db.Now()).Error
	return db.WriteError(err, "credential of worker %s", name)
}

// RevokeSilentGuests revokes the credentials of guests that sent no heartbeat for a day, or never. It returns their
// names; the caller must disconnect them.
func (s *Fleet) RevokeSilentGuests(ctx context.Context, at time.Time) (names []string, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		silent, timeout := db.NormalizeTime(at.Add(-guestRemovedAfter)), db.NormalizeTime(at.Add(-guestTimeout))
		err := tx.Model(&WorkerCredential{}).Where("join_id > 0 and revoked_at is null").
			Where("created_at < ? and name not in (select name from workers where seen_at >= ?) or created_at < ? and "+workerNeverSeenSQL, silent, silent, timeout).
			Pluck("name", &names).Error
		if err != nil || len(names) == 0 {
			return db.ReadError(err, "workers that joined")
		}
		err = tx.Model(&WorkerCredential{}).Where("name in ?", names).Update("revoked_at", db.NormalizeTime(at)).Error
		return db.WriteError(err, "credentials of workers that joined")
	})
	return names, err
}

func sweepRevokedGuestCredentials(which *gorm.DB, at time.Time) error {
	err := which.Where("join_id > 0 and revoked_at < ?", db.NormalizeTime(at.Add(-guestNameReservation))).Delete(&WorkerCredential{}).Error
	return db.WriteError(err, "credentials of workers that left")
}

// SweepGuests deletes guests that left or were silent for a day, and revoked credentials.
func (s *Fleet) SweepGuests(ctx context.Context, at time.Time) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		err := sweepRevokedGuestCredentials(tx, at)
		if err == nil {
			silent, left := db.NormalizeTime(at.Add(-guestRemovedAfter)), db.NormalizeTime(at.Add(-guestArrivalTimeout))
			err = tx.Where("guest and (seen_at < ? or stopping and seen_at < ?)", silent, left).Delete(&Worker{}).Error
		}
		if err != nil {
			return fmt.Errorf("sweeping workers that joined: %w", err)
		}
		return nil
	})
}
