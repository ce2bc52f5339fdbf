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

// Device is a device that a worker has reported. Rows are never deleted, because boards and waiting work of a device
// remain after its last worker has left.
type Device struct {
	Label       string    `gorm:"primaryKey"`
	DriverName  string    `gorm:"column:name"`   // name from its driver
	MemoryBytes int64     `gorm:"column:memory"` // bytes
	FirstSeenAt time.Time `gorm:"column:seen_at"`
}

// RecordDevices stores the devices of a worker and returns those that are new. Tasks that list the family of a new
// device get the device, and work that waits for the family moves to it.
func (s *Fleet) RecordDevices(ctx context.Context, seen []Device) (fresh []string, err error) {
	// RecordDevices is called when a worker reports a change of its slots. An insert of a known device has no effect,
	// so FirstSeenAt keeps the time of the first report.
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		for _, d := range seen {
			d.DriverName, d.FirstSeenAt = db.SanitizeText(d.DriverName), db.Now()
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
		if err := resolveTaskDevices(tx, known); err != nil {
			return err
		}
		return moveWorkWaitingForFamily(tx, known, fresh)
	})
	return fresh, err
}

// KnownDevices lists all devices that were ever seen.
func KnownDevices(tx *gorm.DB) (labels []string, err error) {
	err = tx.Model(&Device{}).Order("label").Pluck("label", &labels).Error
	return labels, db.ReadError(err, "known devices")
}

// ResolveDevices replaces names of families by their known devices. A family without a known device stays.
func ResolveDevices(tx *gorm.DB, names []string) ([]string, error) {
	known, err := KnownDevices(tx)
	return resolveFamilies(names, known), err
}

// A family without a known device stays, so that a task can name a GPU before a worker has it.
func resolveFamilies(names, known []string) (list []string) {
	for _, name := range names {
		meant := gpuname.DevicesWithName(name, known)
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

// taskDevices has the columns of a task that this package reads.
type taskDevices struct {
	ID               int64
	Devices          []string `gorm:"serializer:json"`
	RequestedDevices []string `gorm:"column:asked;serializer:json"`
}

// TableName returns the table of tasks.
func (taskDevices) TableName() string { return "tasks" }

// resolveTaskDevices updates the devices of every task to those that its names mean now.
func resolveTaskDevices(tx *gorm.DB, known []string) error {
	var list []taskDevices
	if err := tx.Find(&list).Error; err != nil {
		return db.ReadError(err, "tasks")
	}
	for _, t := range list {
		means := resolveFamilies(t.RequestedDevices, known)
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

// moveWorkWaitingForFamily moves work that waits for a family of GPUs, such as H100, to the first device of the family
// in fresh, the devices that a worker has just reported for the first time.
func moveWorkWaitingForFamily(tx *gorm.DB, known, fresh []string) error {
	for _, table := range []string{"runs", "evaluations"} {
		var waits []string
		err := tx.Table(table).Where("ended_at is null and attempt_id = ''").Distinct().Pluck("device", &waits).Error
		if err != nil {
			return fmt.Errorf("reading what waits: %w", err)
		}
		for _, name := range waits {
			// Work with an attempt is not moved, because its worker uses the old name. If the attempt is lost, the work
			// waits under the old name until another new device of the family is reported.
			meant := gpuname.DevicesWithName(name, fresh)
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
