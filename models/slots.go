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

// maxDriftRerunsPerBoard is the number of entries per board that are measured again after the software of the device
// has changed. With more, each driver update would occupy a GPU for hours, and the workers of a site are not updated at
// the same time.
const maxDriftRerunsPerBoard = 100

// maxSoftwareKinds limits the different sets of software (driver, compilers, and packages) that are stored for one
// heartbeat. A worker normally reports one set per device.
const maxSoftwareKinds = 32

// RecordSlots stores the devices and the software of a worker, and returns devices that are new. If software is new to
// a device, it queues reruns of the leading entries and missing baselines. For a worker of an old version that reports
// a device under another name, it stores only the software.
func (s *Store) RecordSlots(ctx context.Context, h job.Heartbeat) (fresh []string, out work.Effect, err error) {
	// A worker reports its own devices and software. Reports count only for devices that its credential allows, and
	// whose label follows from the driver's name. The holder of a stolen credential can invent software, which causes
	// reruns but no rank.
	may, err := s.Fleet.DeviceFilterOf(ctx, h.Worker)
	if err != nil {
		return nil, out, err
	}
	var seen []fleet.Device
	for _, slot := range h.Slots {
		if may(slot.Device) && gpuname.Parse(slot.Machine.DeviceName, slot.MemoryBytes).Label() == slot.Device {
			seen = append(seen, fleet.Device{
				Label:       slot.Device,
				DriverName:  slot.Machine.DeviceName,
				MemoryBytes: int64(slot.MemoryBytes),
			})
		}
	}
	// Three transactions store devices, software, and baselines. If the process stops between them, the next heartbeat
	// and the next start of the site repeat the rest.
	if fresh, err = s.Fleet.RecordDevices(ctx, seen); err != nil {
		return nil, out, err
	}
	changed := false
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		changed, err = recordAllSoftware(tx, h.Slots, may, &out)
		return err
	})
	if err == nil && changed {
		_, err = s.StartAllBaselines(ctx)
	}
	return fresh, out, err
}

// recordAllSoftware stores the software of slots, and reports whether some is new to its device.
func recordAllSoftware(
	tx *gorm.DB, slots []job.Slot, may func(device string) bool, out *work.Effect,
) (changed bool, err error) {
	noted := map[[3]any]bool{}
	for _, slot := range slots {
		software := [3]any{slot.Device, epochs.SoftwareForKind(slot.Machine, epochs.NativeSoftware), epochs.SoftwareForKind(slot.Machine, epochs.PythonSoftware)}
		if !may(slot.Device) || noted[software] || len(noted) == maxSoftwareKinds {
			continue
		}
		noted[software] = true
		fresh, err := recordSoftware(tx, slot, out)
		if err != nil {
			return changed, err
		}
		changed = changed || fresh
	}
	return changed, nil
}

// recordSoftware stores the software of a slot for C++ and for Python tasks, and reports whether one is new to the
// device.
func recordSoftware(tx *gorm.DB, slot job.Slot, out *work.Effect) (changed bool, err error) {
	for _, kind := range []epochs.SoftwareKind{epochs.NativeSoftware, epochs.PythonSoftware} {
		if kind == epochs.PythonSoftware && slot.Machine.Python == "" {
			// A slot without Python runs no Python tasks, so it has no epoch for them.
			continue
		}
		slot.Machine.Device = slot.Device
		id, fresh, err := epochs.RecordSoftware(tx, slot.Device, kind, epochs.SoftwareForKind(slot.Machine, kind))
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

// queueDriftReruns queues reruns of the leading entries on a device's open boards whose epoch is older than a current
// epoch of the device.
func queueDriftReruns(tx *gorm.DB, device string, kind epochs.SoftwareKind, epochID int64, out *work.Effect) error {
	python := ""
	if kind == epochs.NativeSoftware {
		python = "not "
	}
	var versions []int64
	err := tx.Table("tasks t").Joins("join task_versions v on v.id = t.version_id").
		Where("(t.deadline is null or t.deadline > ?) and "+python+"v.lang = ?", db.Now(), tasks.LangPython).Order("v.id").Pluck("v.id", &versions).Error
	if err != nil {
		return db.ReadError(err, "open boards")
	}
	// The age is the negative epoch ID, so a larger age means older software. Epoch IDs follow the order in which the
	// site first saw software: after a downgrade to a known driver there is no new epoch and no rerun.
	older := "version_id = ? and device = ? and age > ?"
	var first boards.Entry
	if res := tx.Where("version_id in ? and device = ? and age > ?", versions, device, -epochID).Limit(1).Find(&first); res.Error != nil || res.RowsAffected == 0 {
		return db.ReadError(res.Error, "entries of older epochs")
	}
	o := RerunOrder{
		Purpose:   work.PurposeRerun,
		Device:    device,
		EpochID:   epochID,
		Reason:    "The software of " + device + " changed.",
		CreatedAt: db.Now(),
	}
	if err := tx.Create(&o).Error; err != nil {
		return db.WriteError(err, "order")
	}
	for _, id := range versions {
		if _, err := o.queueReruns(tx, tx.Where(older, id, device, -epochID).Limit(maxDriftRerunsPerBoard), out); err != nil {
			return err
		}
	}
	return nil
}
