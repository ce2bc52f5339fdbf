package fleet

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/evaluator/job"
	"warpboard/internal/requirement"
	"warpboard/models/accounts"
	"warpboard/models/db"
)

// WorkerTimeout is the time without a heartbeat after which a worker's attempts count as lost.
const WorkerTimeout = 10 * time.Second

// Worker is the last reported state of a worker.
type Worker struct {
	Name            string `gorm:"primaryKey"`
	Version         string
	StartedAt       time.Time            // by the worker's clock
	SeenAt          time.Time            // by the site's clock
	Slots           []job.Slot           `gorm:"serializer:json"`
	AttemptIDs      []string             `gorm:"column:attempts;serializer:json"`
	SelfTestResults []job.SelfTestResult `gorm:"column:self_test;serializer:json"`
	Packages        requirement.Packages `gorm:"serializer:json"`
	NoJobsReason    string               `gorm:"column:refusing"` // reason for taking no jobs; empty if it takes some
	HasExited       bool                 `gorm:"column:stopping"` // the worker has exited normally
	// IsGuest means that the worker joined with a token, and is removed after it has exited.
	IsGuest bool `gorm:"column:guest"`
	// ClockDelayMS is the delay of the worker's clock against the site's, including the transfer of the heartbeat, in
	// ms. It is negative if the clock is ahead.
	ClockDelayMS int64 `gorm:"column:behind_ms"`
}

// ClockDelay returns the delay of the worker's clock against the site's.
func (w Worker) ClockDelay() time.Duration { return time.Duration(w.ClockDelayMS) * time.Millisecond }

// FailedSelfTestCount returns the number of a worker's failed self-tests.
func (w Worker) FailedSelfTestCount() (n int) {
	for _, line := range w.SelfTestResults {
		if !line.Passed {
			n++
		}
	}
	return n
}

// SlotProblem returns the reason why a slot of the worker does not run jobs, or "".
func (w Worker) SlotProblem(slot job.Slot) string {
	return cmp.Or(w.NoJobsReason, slot.DisabledReason)
}

// IsLive reports whether the worker sent a heartbeat recently and has not left.
func (w Worker) IsLive(at time.Time) bool {
	return !w.HasExited && at.Sub(w.SeenAt) < WorkerTimeout
}

// canProfile reports whether the worker can profile runs on a device.
func (w Worker) canProfile(device string) bool {
	return slices.ContainsFunc(w.Slots, func(s job.Slot) bool { return s.Device == device && s.CanProfile && w.AcceptsJobsOn(s) })
}

// AcceptsJobsOn reports whether the worker runs jobs on the slot.
func (w Worker) AcceptsJobsOn(slot job.Slot) bool {
	return slot.DisabledReason == "" && w.NoJobsReason == ""
}

// DeviceSlots counts the slots of one device on live workers.
type DeviceSlots struct {
	AcceptingJobs int // slots that accept jobs
	Free          int // idle slots that accept jobs
	Busy          int // slots with a job, even if they accept no further ones
}

// CountAllSlots counts the slots of live workers by device.
func CountAllSlots(workers []Worker, at time.Time) map[string]DeviceSlots {
	return CountSlots(workers, at, func(Worker, job.Slot) bool { return true })
}

// CountSlots counts, by device, the slots of live workers for which the function which returns true.
func CountSlots(workers []Worker, at time.Time, which func(Worker, job.Slot) bool) map[string]DeviceSlots {
	devices := map[string]DeviceSlots{}
	for _, w := range workers {
		for _, slot := range w.Slots {
			if !w.IsLive(at) || !which(w, slot) {
				continue
			}
			n := devices[slot.Device]
			if w.AcceptsJobsOn(slot) {
				n.AcceptingJobs++
			}
			switch {
			case slot.AttemptID != "":
				n.Busy++
			case w.AcceptsJobsOn(slot):
				n.Free++
			}
			devices[slot.Device] = n
		}
	}
	return devices
}

// SlotStartTimes returns, by device, the times since which the slots of live workers run jobs, by the site's clock.
func SlotStartTimes(workers []Worker, at time.Time) map[string][]time.Time {
	devices := map[string][]time.Time{}
	for _, w := range workers {
		for _, slot := range w.Slots {
			if w.IsLive(at) && w.AcceptsJobsOn(slot) {
				devices[slot.Device] = append(devices[slot.Device], w.StartedAt.Add(w.ClockDelay()))
			}
		}
	}
	return devices
}

// SaveHeartbeat stores a worker's heartbeat. A heartbeat without self-tests or packages keeps the previous ones. If
// the worker has a credential, slots of other devices are dropped, because they would attract runs that no worker can
// execute. The credential also determines whether the worker is a guest.
func (s *Fleet) SaveHeartbeat(ctx context.Context, h job.Heartbeat) error {
	id, err := s.credentialOfWorker(ctx, h.Worker)
	if err != nil {
		return err
	}
	h.Slots = slices.DeleteFunc(slices.Clone(h.Slots), func(slot job.Slot) bool { return !id.allowsDevice(slot.Device) })
	row := Worker{
		Name: db.SanitizeText(h.Worker), Version: db.SanitizeText(h.WorkerVersion), StartedAt: db.NormalizeTime(h.WorkerStartedAt), SeenAt: db.Now(),
		Slots: h.Slots, AttemptIDs: h.Attempts, SelfTestResults: h.SelfTestResults, NoJobsReason: db.SanitizeText(h.NoJobsReason), HasExited: h.IsStopping, IsGuest: id.JoinTokenID > 0,
		Packages: h.Packages,
	}
	if !h.Time.IsZero() {
		row.ClockDelayMS = row.SeenAt.Sub(h.Time).Milliseconds()
	}
	columns := []string{"version", "started_at", "seen_at", "slots", "attempts", "refusing", "stopping", "guest", "behind_ms"}
	if len(h.SelfTestResults) > 0 {
		columns = append(columns, "self_test")
	}
	if h.Packages != nil {
		columns = append(columns, "packages")
	}
	err = s.mayStoreHeartbeat(ctx, id, h, func(tx *gorm.DB) error {
		err := tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "name"}}, DoUpdates: clause.AssignmentColumns(columns)}).Create(&row).Error
		return db.WriteError(err, "heartbeat of worker %s", row.Name)
	})
	if err == nil && row.IsGuest && h.IsStopping && len(h.Attempts) == 0 {
		err = s.revokeOnLeave(ctx, row.Name)
	}
	return err
}

// credentialOfWorker returns the credential for the name of a connected worker. The zero credential means that the
// worker is the site's own, or belongs to a NATS cluster that does not ask the site.
func (s *Fleet) credentialOfWorker(ctx context.Context, worker string) (cred WorkerCredential, err error) {
	err = s.db.Read(ctx).Where("name = ?", db.SanitizeText(worker)).Limit(1).Find(&cred).Error
	return cred, db.ReadError(err, "credential of worker %s", worker)
}

// allowsDevice reports whether the credential allows jobs of a device. A revoked credential allows none; its worker may
// stay connected for minutes.
func (c WorkerCredential) allowsDevice(device string) bool {
	return c.ID == 0 || c.RevokedAt == nil && c.listsDevice(device)
}

// DeviceFilterOf returns a function that reports whether a worker may receive jobs for a device: for the devices of its
// credential, and for none if it is a guest that does not count as connected. A worker without a credential may receive
// all.
func (s *Fleet) DeviceFilterOf(ctx context.Context, worker string) (func(device string) bool, error) {
	cred, err := s.credentialOfWorker(ctx, worker)
	if err != nil {
		return nil, err
	}
	here, err := cred.isConnected(s.db.Read(ctx))
	return func(device string) bool { return here && cred.allowsDevice(device) }, err
}

// IsRevoked reports whether the credential of a worker was revoked.
func (s *Fleet) IsRevoked(ctx context.Context, worker string) (bool, error) {
	cred, err := s.credentialOfWorker(ctx, worker)
	return cred.RevokedAt != nil, err
}

// ForgetWorker deletes a worker that is not live. Only admins may call it.
func (s *Fleet) ForgetWorker(ctx context.Context, actor accounts.User, name string) error {
	if err := actor.CheckPermission(accounts.ManageWorkers, accounts.OwnerIDs{}); err != nil {
		return err
	}
	res := s.db.WriteStatement(ctx).Where("name = ? and (stopping or seen_at < ?)", name, db.Now().Add(-WorkerTimeout)).Delete(&Worker{})
	if res.Error == nil && res.RowsAffected == 0 {
		return db.Errorf(db.Conflict, "The worker %s is live or does not exist.", name)
	}
	return db.WriteError(res.Error, "worker")
}

// CanProfile reports whether a live worker can profile runs on a device.
func CanProfile(tx *gorm.DB, device string) (bool, error) {
	var workers []Worker
	err := tx.Find(&workers).Error
	return slices.ContainsFunc(workers, func(w Worker) bool { return w.IsLive(db.Now()) && w.canProfile(device) }), db.ReadError(err, "workers")
}
