package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// claimLifetime is the time for which a process keeps the claim on the name of a worker that sends no heartbeat.
const claimLifetime = time.Minute

// claimKeyPrefix is the prefix of the settings that store claims. The worker's name follows.
const claimKeyPrefix = "worker."

// workerNameClaim is the value of a claim: the process of the site whose worker has the name.
type workerNameClaim struct {
	Holder string    `json:"holder"`
	At     time.Time `json:"at"`
}

// ClaimName claims a name for the worker inside one of the site's processes: the requested name, or one with a number
// appended if a live worker of another process has it, because machines and containers may share a host name. It never
// claims the name of a worker with a valid credential.
func (s *Fleet) ClaimName(ctx context.Context, want, holder string) (name string, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		for n := 1; ; n++ {
			name = want
			if n > 1 {
				name = fmt.Sprintf("%s-%d", want, n)
			}
			free, err := canClaimName(tx, name, holder)
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

// freeOfCredential deletes a revoked credential of a name. It reports whether the name has no valid credential.
func freeOfCredential(tx *gorm.DB, name string) (bool, error) {
	if err := dropRevoked(tx.Where("join_id = 0"), name); err != nil {
		return false, err
	}
	var n int64
	err := tx.Model(&WorkerCredential{}).Where("lower(name) = lower(?)", name).Count(&n).Error
	return n == 0, db.ReadError(err, "credential of worker %s", name)
}

// canClaimName reports whether holder already has the name, or no live worker does.
func canClaimName(tx *gorm.DB, name, holder string) (bool, error) {
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
	return held.Holder == holder || !young && !w.IsLive(db.Now()), nil
}
