package work

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/internal/requirement"
	"warpboard/models/db"
	"warpboard/models/fleet"
)

const (
	// maxCandidates is the number of waiting runs and evaluations that StartNextAttempt reads, because the first may
	// not be suitable for the worker.
	maxCandidates = 16
	// maxRequirementSets limits the different package requirements that StartNextAttempt reads, to those that have
	// waited longest. It exceeds the number that a few callers can have waiting, whose work the worker might not do.
	maxRequirementSets = 5000
	// avoidLostWorkerFor is the time for which lost work is offered only to workers that did not lose it. It begins
	// when the work may start again (AttemptCounts.NotBefore), after the pause that follows each loss.
	avoidLostWorkerFor = 2 * time.Second
	// aheadPerSlot and briefAheadPerSlot limit the attempts that wait on a worker for each of its slots, besides the
	// running attempt and those being built. The second applies to evaluations of the slot's last caller if they take
	// less than maxBriefEvaluation, because the slot can end three of them while the next one is compiled. It does not
	// apply if the worker has had one of its attempts for longer than longAttempt, so that little waits behind that.
	aheadPerSlot, briefAheadPerSlot = 1, 3
	// overPerSlot is the number of attempts that one slot may have beyond its share, so that the others get theirs.
	overPerSlot = 2

	maxBriefEvaluation, longAttempt = 2 * time.Second, 5 * time.Second
	// fullWorkerTime is the age of a worker's oldest attempt from which the limits do not apply to people and callers
	// without an attempt on the device. Otherwise one caller's evaluations, which are all sent while they are being
	// built, could keep the work of others from the worker. There, attempts that wait for long alternate.
	fullWorkerTime = 15 * time.Second
)

// StartNextAttempt starts the next attempt for a worker, in fair order, and returns it, or nil if there is none. If the
// worker does not report an attempt that it was sent, the message was lost, and the same attempt is returned again.
func (l *LifeCycle) StartNextAttempt(
	ctx context.Context, ask job.WorkRequest, at time.Time,
) (attempt *Attempt, err error) {
	// Most requests find no work. They must not wait for a write transaction.
	var needs []string
	err = l.db.Read(ctx).Raw(startableRequirementsSQL+" and "+receivableKindSQL(ask)+
		" group by needs order by min(w.queued_at) limit ?",
		ask.Device, db.NormalizeTime(at), db.SanitizeText(ask.Worker), maxRequirementSets).Scan(&needs).Error
	if err != nil || len(needs) == 0 {
		return nil, db.ReadError(err, "what waits for %s", ask.Device)
	}
	// Workers are many large rows, so they are read before the transaction.
	free, err := l.workerCapacityFor(ctx, ask, at)
	if err != nil || !free.acceptsDevice {
		return nil, err
	}
	needs = slices.DeleteFunc(needs, func(joined string) bool {
		return !free.packages.MeetAll(l.fleet.ParseRequirements(joined))
	})
	if len(needs) == 0 {
		return nil, nil
	}
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		if free.deviceLoad, err = readDeviceLoad(tx, ask); err != nil {
			return err
		}
		if len(free.deviceLoad.unreceivedAttempts) > 0 {
			attempt = &free.deviceLoad.unreceivedAttempts[0]
			return nil
		}
		queued, err := free.chooseWork(tx, ask, at, needs)
		if err != nil || queued == nil {
			return err
		}
		begun, err := l.startAttempt(tx, queued.WorkRef(), ask.Worker)
		attempt = &begun
		return err
	})
	if err != nil {
		return nil, err
	}
	return attempt, nil
}

// startableRequirementsSQL selects the different requirements of work that could start on a device, and "" for an
// attempt that has not arrived at a worker.
const startableRequirementsSQL = `select case when w.attempt_id = '' then w.requires else '' end as needs
	from (` + allLiveWorkSQL + `) w left join attempts a on a.id = w.attempt_id where w.device = ?
	and (w.attempt_id = '' and (w.not_before is null or w.not_before <= ?) or a.worker = ? and a.taken_at is null)`

const anyKindSQL = "1 = 1"

// receivableKindSQL returns the condition for the work that a request may receive. On a GPU, evaluations that only
// compile use no slot, so separate requests receive them.
func receivableKindSQL(ask job.WorkRequest) string {
	switch {
	case ask.CompileOnly:
		return "kind = 'compile'"
	case ask.Device != gpuname.CPU:
		return "kind <> 'compile'"
	}
	return anyKindSQL
}

// deviceLoad counts the live attempts of a device, and those that were sent to a worker but have not arrived.
type deviceLoad struct {
	attemptCount, rerunCount int
	own, callers             heldAttempts    // the worker's attempts, and those of them that are WorkRequest.Caller's
	turnOwners               map[string]bool // keys of LiveAttempt.TurnOwner of all attempts that need slots
	unreceivedAttempts       []Attempt
}

// heldAttempts counts attempts that a worker has. The zero value has none.
type heldAttempts struct {
	number int
	oldest time.Time // when the worker received the first of them
}

func (h *heldAttempts) add(a LiveAttempt) {
	h.number++
	if began := a.BeganAt(); h.number == 1 || began.Before(h.oldest) {
		h.oldest = began
	}
}

// hasOlder reports whether the worker has had one of the attempts for longer than age.
func (h heldAttempts) hasOlder(at time.Time, age time.Duration) bool {
	return h.number > 0 && at.Sub(h.oldest) > age
}

func readDeviceLoad(tx *gorm.DB, ask job.WorkRequest) (g deviceLoad, err error) {
	live, err := liveAttempts(tx, "where w.device = ?", ask.Device)
	g.turnOwners = map[string]bool{}
	for _, a := range live {
		isOwn := a.Worker == db.SanitizeText(ask.Worker)
		if needsSlot := a.Kind != string(job.ModeCompile) || ask.Device == gpuname.CPU; needsSlot {
			g.attemptCount++
			g.turnOwners[a.TurnOwner] = true
			if isOwn {
				g.own.add(a)
			}
			if isOwn && ask.Caller != "" && a.Owner == ask.Caller {
				g.callers.add(a)
			}
		}
		if a.Priority == PriorityRerun {
			g.rerunCount++
		}
		if isOwn && a.ReceivedAt == nil && !slices.Contains(ask.Attempts, a.ID) {
			g.unreceivedAttempts = append(g.unreceivedAttempts, a.Attempt)
		}
	}
	return g, err
}

// workerCapacity is the free capacity of a device for the requesting worker.
type workerCapacity struct {
	acceptsDevice   bool              // the worker takes jobs for the device
	slots           fleet.DeviceSlots // slots of all workers
	ownSlots        int               // slots of this worker
	offeringWorkers []string          // live workers with slots of the device
	packages        requirement.Packages
	deviceLoad      deviceLoad
}

func (l *LifeCycle) workerCapacityFor(
	ctx context.Context, ask job.WorkRequest, at time.Time,
) (r workerCapacity, err error) {
	may, err := l.fleet.DeviceFilterOf(ctx, ask.Worker)
	if err != nil || !may(ask.Device) {
		return r, err
	}
	pauses, err := l.fleet.Pauses(ctx)
	if err != nil {
		return r, err
	}
	workers, err := l.fleet.Workers(ctx)
	if err != nil {
		return r, err
	}
	takes := func(w fleet.Worker, slot job.Slot) bool { return slot.Device == ask.Device && w.AcceptsJobsOn(slot) }
	r.slots = fleet.CountSlots(workers, at, takes)[ask.Device]
	for _, w := range workers {
		n := fleet.CountSlots([]fleet.Worker{w}, at, takes)[ask.Device].AcceptingJobs
		if n > 0 {
			r.offeringWorkers = append(r.offeringWorkers, w.Name)
		}
		if w.Name == db.SanitizeText(ask.Worker) {
			r.ownSlots, r.packages = n, w.Packages
		}
	}
	_, paused := pauses[ask.Device]
	r.acceptsDevice = !paused
	return r, nil
}

// mayReceive reports whether the worker may receive work. ahead is aheadPerSlot or briefAheadPerSlot.
func (r workerCapacity) mayReceive(ask job.WorkRequest, at time.Time, ahead int) bool {
	own := r.deviceLoad.own
	building := r.buildingCount(ask)
	mine, all := own.number-building, r.deviceLoad.attemptCount-building
	if mine >= (1+ahead)*r.ownSlots || ask.SlotJobCount > ahead+overPerSlot {
		return false
	}
	othersIdle := r.ownSlots < r.slots.AcceptingJobs && r.slots.Busy < r.slots.AcceptingJobs
	if (othersIdle || own.hasOlder(at, longAttempt)) && mine >= (1+aheadPerSlot)*r.ownSlots {
		return false // another worker's slot could run it, now or soon
	}
	// For a busy slot, the worker may receive `ahead` more jobs for each of the device's slots, but none that an
	// idle slot could run. A run on several slots is one attempt, so the busy slots that workers report count, too.
	return !ask.IsSlotBusy || r.slots.AcceptingJobs <= max(all, r.slots.Busy) && all <= ahead*r.slots.AcceptingJobs
}

// buildingCount returns the number of the worker's attempts that are being built, which the worker reports.
func (r workerCapacity) buildingCount(ask job.WorkRequest) int {
	return max(min(ask.BuildingCount, r.deviceLoad.own.number), 0)
}

// mayReceiveOfOthers reports whether a full worker may receive work of people and callers without an attempt on the
// device (see fullWorkerTime). An idle slot of another worker could run it at once. Not too many of them may have one,
// because what a worker has leaves the fair order.
func (r workerCapacity) mayReceiveOfOthers(ask job.WorkRequest, at time.Time) bool {
	if r.ownSlots == 0 || !r.deviceLoad.own.hasOlder(at, fullWorkerTime) {
		return false
	}
	notBuilding := r.deviceLoad.attemptCount - r.buildingCount(ask)
	return max(notBuilding, r.slots.Busy) >= r.slots.AcceptingJobs &&
		len(r.deviceLoad.turnOwners) < 2*(1+briefAheadPerSlot)*r.slots.AcceptingJobs
}

// mayUseSlot reports whether work of a priority may use the slot.
func (r workerCapacity) mayUseSlot(p Priority, busy bool) bool {
	switch {
	case p < PriorityFollowUp:
		return true
	case busy || r.deviceLoad.attemptCount >= r.slots.AcceptingJobs:
		return false // such work needs an idle slot for which no other attempt waits
	case p == PriorityRerun:
		// Reruns leave one slot free for people's work. If there is only one slot, a rerun may use it while no other
		// work waits.
		return r.deviceLoad.rerunCount < max(r.slots.AcceptingJobs-1, 1)
	}
	return true
}

// chooseWork returns the first work with one of the given requirements that the worker may receive, or nil.
func (r workerCapacity) chooseWork(
	tx *gorm.DB, ask job.WorkRequest, at time.Time, needs []string,
) (*QueuedWork, error) {
	isFull := !ask.CompileOnly && !r.mayReceive(ask, at, briefAheadPerSlot)
	if isFull && !r.mayReceiveOfOthers(ask, at) {
		return nil, nil
	}
	next, err := queryNextWork(tx, ask.Device, receivableKindSQL(ask)+" and requires in ?", maxCandidates, at, needs)
	if err != nil {
		return nil, err
	}
	if isFull {
		next = slices.DeleteFunc(next, func(q QueuedWork) bool { return r.deviceLoad.turnOwners[q.TurnOwner] })
		ask.Caller = "" // its turn is over
	}
	ofCaller, turn, err := r.turnOfLastCaller(tx, ask, at, needs, next)
	if err != nil || turn.mustWait {
		return nil, err
	}
	mayReceive := ask.CompileOnly || isFull || r.mayReceive(ask, at, aheadPerSlot)
	for i, queued := range append(ofCaller, next...) {
		isBrief := turn.isBrief && i < len(ofCaller)
		if !mayReceive && !isBrief || !r.mayUseSlot(queued.Priority, ask.IsSlotBusy) {
			return nil, nil // the remaining ones come later, or have the same or a lower priority
		}
		if avoid, err := r.lostAttemptRecently(tx, queued, ask.Worker, at); err != nil || !avoid {
			return &queued, err
		}
	}
	return nil, nil
}

// lostAttemptRecently reports whether the worker lost an attempt at the work recently while other workers have the
// device.
func (r workerCapacity) lostAttemptRecently(tx *gorm.DB, queued QueuedWork, worker string, at time.Time) (bool, error) {
	if queued.NotBefore == nil || !at.Before(queued.NotBefore.Add(avoidLostWorkerFor)) {
		return false, nil
	}
	lost, err := workersWithLostAttempt(tx, queued.WorkRef())
	if err != nil || !slices.Contains(lost, db.SanitizeText(worker)) {
		return false, err
	}
	return slices.ContainsFunc(r.offeringWorkers, func(name string) bool { return !slices.Contains(lost, name) }), nil
}
