package models

import (
	"context"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/models/fleet"
	"warpboard/models/work"
	"warpboard/tasks"
)

// driftEntriesPerBoard is the number of entries of each board that are measured again after the software of its device
// changed. This happens automatically after each driver update, and the first ten decide who leads. More would keep a
// GPU busy for hours after each update, and the workers of a fleet are not updated at the same time.
const driftEntriesPerBoard = 100

// maxSoftwareKinds limits the kinds of software in one heartbeat: a machine has one for each device.
const maxSoftwareKinds = 32

// NoteSlots stores the devices and the software of a worker, and returns the new labels of devices. For software that
// is new to a device, the first entries of its boards are measured again, and missing baselines run. If a worker of an
// old version uses another name than the label, only the software is stored.
func (s *Store) NoteSlots(ctx context.Context, h job.Heartbeat) (fresh []string, out work.Effect, err error) {
	// A worker states its own device and software. Its statement counts for devices that its credential allows, and for
	// labels that follow from the driver's name. So the holder of a stolen credential can invent software, which costs
	// reruns, but no place on a board.
	may, err := s.Fleet.MayTake(ctx, h.Worker)
	if err != nil {
		return nil, out, err
	}
	var seen []fleet.Device
	for _, slot := range h.Slots {
		if may(slot.Device) && gpuname.Parse(slot.Machine.Name, slot.MemoryBytes).Label() == slot.Device {
			seen = append(seen, fleet.Device{
				Label:  slot.Device,
				Name:   slot.Machine.Name,
				Memory: int64(slot.MemoryBytes),
			})
		}
	}
	// Three transactions: devices, software, baselines. A process that dies between them leaves no harm: devices and
	// software are noted at the next heartbeat, and baselines are looked for at each start of the site.
	if fresh, err = s.Fleet.NoteDevices(ctx, seen); err != nil {
		return nil, out, err
	}
	changed := false
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		changed, err = noteAllSoftware(tx, h.Slots, may, &out)
		return err
	})
	if err == nil && changed {
		_, err = s.StartAllBaselines(ctx)
	}
	return fresh, out, err
}

// noteAllSoftware stores the software of slots, each kind once, and reports whether some is new to its device.
func noteAllSoftware(tx *gorm.DB, slots []job.Slot, may func(device string) bool, out *work.Effect) (changed bool, err error) {
	noted := map[[3]any]bool{}
	for _, slot := range slots {
		software := [3]any{slot.Device, epochs.SoftwareFor(slot.Machine, epochs.Native), epochs.SoftwareFor(slot.Machine, epochs.Python)}
		if !may(slot.Device) || noted[software] || len(noted) == maxSoftwareKinds {
			continue
		}
		noted[software] = true
		fresh, err := noteSoftware(tx, slot, out)
		if err != nil {
			return changed, err
		}
		changed = changed || fresh
	}
	return changed, nil
}

// noteSoftware stores both kinds of software of a slot, and reports whether one is new to its device.
func noteSoftware(tx *gorm.DB, slot job.Slot, out *work.Effect) (changed bool, err error) {
	for _, kind := range []epochs.Kind{epochs.Native, epochs.Python} {
		if kind == epochs.Python && slot.Machine.Python == "" {
			// A slot without Python runs no Python tasks, and must not make an epoch of half the software.
			continue
		}
		slot.Machine.Device = slot.Device
		id, fresh, err := epochs.Record(tx, slot.Device, kind, epochs.SoftwareFor(slot.Machine, kind))
		if err != nil {
			return changed, err
		}
		if fresh {
			changed = true
			if err := queueDriftReruns(tx, slot.Device, kind, id, out); err != nil {
				return changed, err
			}
		}
	}
	return changed, nil
}

// queueDriftReruns queues the first entries of a device's open boards to be measured again if their epochs are older
// than a current one of the device.
func queueDriftReruns(tx *gorm.DB, device string, kind epochs.Kind, epochID int64, out *work.Effect) error {
	python := ""
	if kind == epochs.Native {
		python = "not "
	}
	var versions []int64
	err := tx.Table("tasks t").Joins("join task_versions v on v.id = t.version_id").
		Where("(t.deadline is null or t.deadline > ?) and "+python+"v.lang = ?", db.Now(), tasks.LangPython).Order("v.id").Pluck("v.id", &versions).Error
	if err != nil {
		return db.ReadError(err, "open boards")
	}
	// Age is minus the epoch's number, so that a larger age is older software. The number grows with the order in which
	// the site first met the software: after a downgrade to a known driver no new epoch exists, and nothing is measured
	// again.
	older := "version_id = ? and device = ? and age > ?"
	var first boards.Entry
	if res := tx.Where("version_id in ? and device = ? and age > ?", versions, device, -epochID).Limit(1).Find(&first); res.Error != nil || res.RowsAffected == 0 {
		return db.ReadError(res.Error, "entries of older epochs")
	}
	o := Order{
		Purpose:   work.Rerun,
		Device:    device,
		EpochID:   epochID,
		Reason:    "The software of " + device + " changed.",
		CreatedAt: db.Now(),
	}
	if err := tx.Create(&o).Error; err != nil {
		return db.WriteError(err, "order")
	}
	for _, id := range versions {
		if _, err := o.queueAll(tx, tx.Where(older, id, device, -epochID).Limit(driftEntriesPerBoard), out); err != nil {
			return err
		}
	}
	return nil
}
