package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// claimLifetime is the time for which the name of a worker without a heartbeat stays with the process that claimed it.
const claimLifetime = time.Minute

// claimKeyPrefix is the prefix of the settings that hold claims; the worker's name follows.
const claimKeyPrefix = "worker."

// workerNameClaim is the site's process that has a worker of this name.
type workerNameClaim struct {
	Holder string    `json:"holder"`
	At     time.Time `json:"at"`
}

// ClaimName returns a name for the worker inside one of the site's processes that no live worker of another process
// has: the requested one, or the same with a number, because machines and containers may share a host name. It is never
// the name of a worker with a credential; a credential that an admin revoked frees its name.
func (s *Fleet) ClaimName(ctx context.Context, want, holder string) (name string, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		for n := 1; ; n++ {
			name = want
			if n > 1 {
				name = fmt.Sprintf("%s-%d", want, n)
			}
			free, err := claimable(tx, name, holder)
			if err == nil && free {
				free, err = freeOfCredential(tx, name)
			}
			if err != nil || free {
				return errors.Join(err, db.PutJSON(tx, claimKeyPrefix+name, workerNameClaim{holder, db.Now()}))
			}
		}
	})
	return name, err
}

// freeOfCredential removes a revoked credential of a name, and reports whether there is no other.
func freeOfCredential(tx *gorm.DB, name string) (bool, error) {
	if err := dropRevoked(tx.Where("join_id = 0"), name); err != nil {
		return false, err
	}
	var n int64
	err := tx.Model(&WorkerCredential{}).Where("lower(name) = lower(?)", name).Count(&n).Error
	return n == 0, db.ReadError(err, "credential of worker %s", name)
}

// claimable reports whether a name is the holder's already, or belongs to no present worker.
func claimable(tx *gorm.DB, name, holder string) (bool, error) {
	claims, err := db.JSONSettings[workerNameClaim](tx.Where("key = ?", claimKeyPrefix+name), claimKeyPrefix)
	held, found := claims[name]
	if err != nil || !found {
		return err == nil, err
	}
	var w Worker
	seen := tx.Where("name = ?", db.Sanitize(name)).Limit(1).Find(&w)
	if seen.Error != nil {
		return false, db.ReadError(seen.Error, "worker %s", name)
	}
	young := db.Now().Sub(held.At) < claimLifetime && !(w.Stopping && w.SeenAt.After(held.At))
	return held.Holder == holder || !young && !w.Live(db.Now()), nil
}
