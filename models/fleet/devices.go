package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/internal/gpuname"
	"warpboard/models/db"
)

// Device is a device model that a worker has been seen with. Rows are never deleted: a device stays known after its
// last worker has gone, with its boards and waiting work.
type Device struct {
	Label  string `gorm:"primaryKey"`
	Name   string // name from its driver
	Memory int64  // bytes
	SeenAt time.Time
}

// NoteDevices stores the devices of a worker and returns the new ones. Tasks that name their family get them, and work
// that waits for the family goes to them.
func (s *Fleet) NoteDevices(ctx context.Context, seen []Device) (fresh []string, err error) {
	// Called when a worker reports a change of its slots. A known label costs an insert without effect, so SeenAt is
	// the time at which it was first seen.
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		for _, d := range seen {
			d.Name, d.SeenAt = db.Sanitize(d.Name), db.Now()
			res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&d)
			if res.Error != nil {
				return db.WriteError(res.Error, "device %s", d.Label)
			}
			if res.RowsAffected > 0 {
				fresh = append(fresh, d.Label)
			}
		}
		if len(fresh) == 0 {
			return nil
		}
		known, err := KnownDevices(tx)
		if err != nil {
			return err
		}
		if err := resolveTasks(tx, known); err != nil {
			return err
		}
		return moveWaiting(tx, known, fresh)
	})
	return fresh, err
}

// KnownDevices lists the labels of all devices that were ever seen.
func KnownDevices(tx *gorm.DB) (labels []string, err error) {
	err = tx.Model(&Device{}).Order("label").Pluck("label", &labels).Error
	return labels, db.ReadError(err, "known devices")
}

// ResolveDevices replaces names of families by their known devices; names without devices stay.
func ResolveDevices(tx *gorm.DB, names []string) ([]string, error) {
	known, err := KnownDevices(tx)
	return resolveFamilies(names, known), err
}

// A family without a device stays unchanged, so a task can name a GPU that no worker has yet.
func resolveFamilies(names, known []string) (list []string) {
	for _, name := range names {
		meant := gpuname.Choose(name, known)
		if len(meant) == 0 || slices.Contains(meant, name) {
			meant = []string{name}
		}
		for _, label := range meant {
			if !slices.Contains(list, label) {
				list = append(list, label)
			}
		}
	}
	return list
}

// task is the part of a task that is read here.
type task struct {
	ID      int64
	Devices []string `gorm:"serializer:json"`
	Asked   []string `gorm:"serializer:json"`
}

// resolveTasks sets every task's devices to those that its names mean now.
func resolveTasks(tx *gorm.DB, known []string) error {
	var list []task
	if err := tx.Find(&list).Error; err != nil {
		return db.ReadError(err, "tasks")
	}
	for _, t := range list {
		means := resolveFamilies(t.Asked, known)
		if slices.Equal(means, t.Devices) {
			continue
		}
		t.Devices = means
		if err := tx.Select("devices", "asked").Updates(&t).Error; err != nil {
			return fmt.Errorf("saving the devices of task %d: %w", t.ID, err)
		}
	}
	return nil
}

// moveWaiting moves work that waits for a family of GPUs, such as H100, to the family's first device. fresh has the
// devices that a worker has just reported for the first time.
func moveWaiting(tx *gorm.DB, known, fresh []string) error {
	for _, table := range []string{"runs", "evaluations"} {
		var waits []string
		err := tx.Table(table).Where("ended_at is null and attempt_id = ''").Distinct().Pluck("device", &waits).Error
		if err != nil {
			return fmt.Errorf("reading what waits: %w", err)
		}
		for _, name := range waits {
			// What has an attempt stays: its worker calls the device by the old name. If it is lost, its work waits
			// under that name again, and the next new device of the family takes it along.
			meant := gpuname.Choose(name, fresh)
			if len(meant) == 0 || slices.Contains(known, name) {
				continue
			}
			q := tx.Table(table).Where("ended_at is null and attempt_id = '' and device = ?", name)
			if err := q.Update("device", meant[0]).Error; err != nil {
				return fmt.Errorf("moving what waits for %s: %w", name, err)
			}
		}
	}
	return nil
}
