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
	// guestRemovedAfter is the time without a heartbeat after which a worker that joined is removed.
	guestRemovedAfter = 24 * time.Hour
	// guestArrivalTimeout is the time for which a worker that has just joined counts as present without a heartbeat.
	guestArrivalTimeout = time.Minute
	// guestTimeout is the time for which a worker that joined keeps its place without any heartbeat. Workers send one
	// as soon as they are connected.
	guestTimeout = 15 * time.Minute
	// guestNameReserved is the time for which the name of a guest that left stays taken, and its credential revoked. A
	// connection under that name may last as long: a cluster takes ten minutes to end it (authorizedFor in
	// evaluator/queue). A name without a credential is the site's own.
	guestNameReserved = 15 * time.Minute
)

const (
	liveWorkersSQL = "select name from workers where not stopping and seen_at > ?"
	neverSeenSQL   = "not exists (select 1 from workers w where w.name = worker_credentials.name and w.seen_at >= worker_credentials.created_at)"
)

// countGuests counts the workers of a token that are connected, on their way, or have never reported, except the one
// with a name.
func countGuests(tx *gorm.DB, tokenID int64, but string) (int, error) {
	var n int64
	at := db.Now()
	err := tx.Model(&WorkerCredential{}).Where("join_id = ? and revoked_at is null and name <> ?", tokenID, but).
		Where("created_at > ? or name in ("+liveWorkersSQL+") or "+neverSeenSQL, db.Time(at.Add(-guestArrivalTimeout)), db.Time(at.Add(-WorkerTimeout))).
		Count(&n).Error
	return int(n), db.ReadError(err, "workers of a join token")
}

// present reports whether a worker counts as present for its token: it has just joined, or sent a heartbeat lately. A
// worker that did not join by a token always is.
func (c WorkerCredential) present(tx *gorm.DB) (bool, error) {
	if c.JoinID == 0 || db.Now().Sub(c.CreatedAt) < guestArrivalTimeout {
		return true, nil
	}
	var n int64
	err := tx.Table("workers").Where("name = ? and name in ("+liveWorkersSQL+")", c.Name, db.Time(db.Now().Add(-WorkerTimeout))).Count(&n).Error
	return n > 0, db.ReadError(err, "worker %s", c.Name)
}

// keepRow reports whether save may write a worker's heartbeat. A guest that was away comes back only while its token
// has places: others may have its place.
func (s *Fleet) keepRow(ctx context.Context, cred WorkerCredential, h job.Heartbeat, save func(tx *gorm.DB) error) error {
	if h.Stopping || cred.RevokedAt != nil {
		return save(s.db.Writer(ctx))
	}
	if here, err := cred.present(s.db.Read(ctx)); err != nil || here {
		if err != nil {
			return err
		}
		return save(s.db.Writer(ctx))
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		var token JoinToken
		if err := tx.Take(&token, cred.JoinID).Error; err != nil {
			return db.ReadError(err, "join token %d", cred.JoinID)
		}
		others, err := countGuests(tx, cred.JoinID, cred.Name)
		switch {
		case err != nil:
			return err
		case others >= token.MaxWorkers:
			return db.Errorf(db.Conflict, "The join token %s admits %d workers at a time, and all of these places are taken. Worker %s waits until one leaves.", token.Name, token.MaxWorkers, cred.Name)
		}
		return save(tx)
	})
}

// revokeOnLeave revokes the credential of a guest that leaves. It does not delete it: the guest's connection may still
// be open.
func (s *Fleet) revokeOnLeave(ctx context.Context, name string) error {
	err := s.db.Writer(ctx).Model(&WorkerCredential{}).Where("name = ? and join_id > 0 and revoked_at is null", name).Update("revoked_at", db.Now()).Error
	return db.WriteError(err, "credential of worker %s", name)
}

// RevokeSilentGuests revokes the credentials of guests that were silent for a day, or never reported, and returns their
// names: the caller must then disconnect them.
func (s *Fleet) RevokeSilentGuests(ctx context.Context, at time.Time) (names []string, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		silent, timeout := db.Time(at.Add(-guestRemovedAfter)), db.Time(at.Add(-guestTimeout))
		err := tx.Model(&WorkerCredential{}).Where("join_id > 0 and revoked_at is null").
			Where("created_at < ? and name not in (select name from workers where seen_at >= ?) or created_at < ? and "+neverSeenSQL, silent, silent, timeout).
			Pluck("name", &names).Error
		if err != nil || len(names) == 0 {
			return db.ReadError(err, "workers that joined")
		}
		err = tx.Model(&WorkerCredential{}).Where("name in ?", names).Update("revoked_at", db.Time(at)).Error
		return db.WriteError(err, "credentials of workers that joined")
	})
	return names, err
}

func sweepRevokedGuests(which *gorm.DB, at time.Time) error {
	err := which.Where("join_id > 0 and revoked_at < ?", db.Time(at.Add(-guestNameReserved))).Delete(&WorkerCredential{}).Error
	return db.WriteError(err, "credentials of workers that left")
}

// SweepGuests removes workers that joined and have left or were silent for a day, and revoked credentials.
func (s *Fleet) SweepGuests(ctx context.Context, at time.Time) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		err := sweepRevokedGuests(tx, at)
		if err == nil {
			silent, left := db.Time(at.Add(-guestRemovedAfter)), db.Time(at.Add(-guestArrivalTimeout))
			err = tx.Where("guest and (seen_at < ? or stopping and seen_at < ?)", silent, left).Delete(&Worker{}).Error
		}
		if err != nil {
			return fmt.Errorf("sweeping workers that joined: %w", err)
		}
		return nil
	})
}
