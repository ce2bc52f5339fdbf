package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// nameClaimLifetime is the time for which a process keeps the claim on the name of a worker that sends no heartbeat.
const nameClaimLifetime = time.Minute

// nameClaimKeyPrefix is the prefix of the settings that store claims. The worker's name follows.
const nameClaimKeyPrefix = "worker."

// workerNameClaim is the value of a claim: the process of the site whose worker has the name.
type workerNameClaim struct {
	Holder    string    `json:"holder"`
	ClaimedAt time.Time `json:"at"`
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
				free, err = freeCredentialName(tx, name)
			}
			if err != nil || free {
				return errors.Join(err, db.PutJSONSetting(tx, nameClaimKeyPrefix+name,
					workerNameClaim{holder, db.Now()}))
			}
		}
	})
	return name, err
}

// freeCredentialName deletes a revoked credential of a name. It reports whether the name has no valid credential.
func freeCredentialName(tx *gorm.DB, name string) (bool, error) {
	if err := dropRevokedCredential(tx.Where("join_id = 0"), name); err != nil {
		return false, err
	}
	var n int64
	err := tx.Model(&WorkerCredential{}).Where("lower(name) = lower(?)", name).Count(&n).Error
	return n == 0, db.ReadError(err, "credential of worker %s", name)
}

// canClaimName reports whether holder already has the name, or no live worker does.
func canClaimName(tx *gorm.DB, name, holder string) (bool, error) {
	claims, err := db.ReadJSONSettings[workerNameClaim](tx.Where("key = ?", nameClaimKeyPrefix+name),
		nameClaimKeyPrefix)
	held, found := claims[name]
	if err != nil || !found {
		return err == nil, err
	}
	var w Worker
	seen := tx.Where("name = ?", db.SanitizeText(name)).Limit(1).Find(&w)
	if seen.Error != nil {
		return false, db.ReadError(seen.Error, "worker %s", name)
	}
	young := db.Now().Sub(held.ClaimedAt) < nameClaimLifetime && !(w.HasExited && w.SeenAt.After(held.ClaimedAt))
	return held.Holder == holder || !young && !w.IsLive(db.Now()), nil
}
