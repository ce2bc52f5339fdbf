package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/db"
)

// claimedFor is how long the name of a worker that was never heard of stays with who claimed it.
const claimedFor = time.Minute

// claim says which process of the site has a worker of this name.
type claim struct {
	Holder string    `json:"holder"`
	At     time.Time `json:"at"`
}

// ClaimName gives the own worker of one of the site's processes a name that no live worker of another process has: the one
// that it wants, or the same with a number. Machines and containers may share a host name.
func (s *Fleet) ClaimName(ctx context.Context, want, holder string) (name string, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		for n := 1; ; n++ {
			name = want
			if n > 1 {
				name = fmt.Sprintf("%s-%d", want, n)
			}
			if free, err := claimable(tx, name, holder); err != nil || free {
				return errors.Join(err, writeClaim(tx, name, holder))
			}
		}
	})
	return name, err
}

// claimable reports whether a name is the holder's already, or nobody's who is there.
func claimable(tx *gorm.DB, name, holder string) (bool, error) {
	var row db.Setting
	found := tx.Where("key = ?", claimKey(name)).Limit(1).Find(&row)
	if found.Error != nil || found.RowsAffected == 0 {
		return found.Error == nil, db.ReadError(found.Error, "the claim of worker %s", name)
	}
	var held claim
	if err := json.Unmarshal([]byte(row.Value), &held); err != nil {
		return false, fmt.Errorf("reading the claim of worker %s: %w", name, err)
	}
	var w Worker
	seen := tx.Where("name = ?", db.Sanitize(name)).Limit(1).Find(&w)
	if seen.Error != nil {
		return false, db.ReadError(seen.Error, "worker %s", name)
	}
	young := db.Now().Sub(held.At) < claimedFor && !(w.Stopping && w.SeenAt.After(held.At))
	return held.Holder == holder || !young && !w.Live(db.Now()), nil
}

func writeClaim(tx *gorm.DB, name, holder string) error {
	value, err := json.Marshal(claim{holder, db.Now()})
	if err != nil {
		return fmt.Errorf("writing the claim of worker %s: %w", name, err)
	}
	row := db.Setting{Key: claimKey(name), Value: string(value)}
	return db.WriteError(tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error, "claim of worker %s", name)
}

func claimKey(name string) string { return "worker." + name }
