package work

import (
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

const (
	// maxCallerTime, maxManyCallerTime, and maxSharedCallerTime limit the time for which a slot gets evaluations of one
	// caller before those of others that come first in the fair order. After each change of callers, the slot needs new
	// processes. On an H200 this takes 1.5 s, and the Pythons for the next change are ready after 5 to 8 s. The second
	// limit applies if both callers have manyEvaluations, the third if the next one has work on another slot of the
	// device. Callers whose evaluations take longer than maxQuickEvaluation alternate.
	maxCallerTime, maxManyCallerTime, maxSharedCallerTime = 3 * time.Second, 15 * time.Second, time.Minute
	maxQuickEvaluation, manyEvaluations                   = 10 * time.Second, 8
	// maxIdleTurn is the time for which a caller's turn goes on while all attempts of the worker are being built. With as
	// many attempts as the slot can hold, a caller keeps its turn until one has ended, if its evaluations are brief and
	// none of the attempts is older than longAttempt: otherwise, each build would let another caller in.
	maxIdleTurn = time.Second
)

// callerTurn is the state of a caller's turn on a slot.
type callerTurn struct {
	isBrief  bool // the caller's evaluations are brief
	mustWait bool // the slot should get nothing now: neither more of the caller's work, nor others' before it
}

// turnOfLastCaller returns evaluations of the caller of the slot's last job that the slot should get before next, the
// work in the fair order. There are none if a run waits, if the caller's evaluations are long, or if the work of others
// comes first in the fair order and the turn has ended. A caller without a waiting evaluation keeps the turn on a busy
// slot while the worker has enough of its attempts, because it may send the next evaluation when one has ended.
func (r workerCapacity) turnOfLastCaller(
	tx *gorm.DB, ask job.WorkRequest, at time.Time, needs []string, next []QueuedWork,
) (ofCaller []QueuedWork, turn callerTurn, err error) {
	isRun := func(q QueuedWork) bool { return q.EvaluationID == "" && q.Priority <= PriorityRun }
	if ask.Caller == "" || len(next) == 0 || next[0].EvaluationID == "" || slices.ContainsFunc(next, isRun) {
		return nil, callerTurn{}, nil
	}
	var lastNS []int64
	err = tx.Model(&Evaluation{}).Where("owner = ? and device = ? and ended_at is not null and unit_ns > 0", ask.Caller,
		ask.Device).Order("queued_at desc").Limit(3).Pluck("unit_ns", &lastNS).Error
	slices.Sort(lastNS)
	if err != nil || len(lastNS) == 0 {
		return nil, callerTurn{}, db.ReadError(err, "the last evaluations of a caller")
	}
	took := time.Duration(lastNS[len(lastNS)/2])
	if took > maxQuickEvaluation {
		return nil, callerTurn{}, nil
	}
	ofCaller, err = queryNextWork(tx, ask.Device, receivableKindSQL(ask)+" and requires in ? and owner = ?",
		maxCandidates, at, needs, ask.Caller)
	if err != nil {
		return nil, callerTurn{}, err
	}
	turn.isBrief = took <= maxBriefEvaluation
	enough := (1 + briefAheadPerSlot) * r.ownSlots
	switch {
	case len(ofCaller) == 0 && !ask.IsSlotBusy:
		return nil, callerTurn{}, nil
	case len(ofCaller) == 0:
		enough = (1 + aheadPerSlot) * r.ownSlots
	case ofCaller[0].WorkRef() == next[0].WorkRef():
		return ofCaller, turn, nil
	}
	callers := r.deviceLoad.callers
	limit, err := r.turnLimit(tx, ask, at, needs, next[0], len(ofCaller)+callers.number)
	if err != nil {
		return nil, callerTurn{}, err
	}
	isFull := callers.number >= enough
	onlyBuilds := ask.CallerTime > 0 && ask.BuildingCount >= r.deviceLoad.own.number &&
		at.Sub(callers.oldest) > maxIdleTurn
	switch {
	case ask.CallerTime >= limit || isFull && (callers.hasOlder(at, longAttempt) || !turn.isBrief || onlyBuilds):
		return nil, callerTurn{}, nil
	case isFull:
		return nil, callerTurn{mustWait: true}, nil
	}
	return ofCaller, turn, nil
}

// turnLimit returns the time after which the turn of the slot's last caller ends. next is the first work in the fair
// order, and count the number of the caller's evaluations that wait or that the worker has.
func (r workerCapacity) turnLimit(
	tx *gorm.DB, ask job.WorkRequest, at time.Time, needs []string, next QueuedWork, count int,
) (time.Duration, error) {
	switch {
	case r.slots.AcceptingJobs > 1 && r.deviceLoad.turnOwners[next.TurnOwner]:
		return maxSharedCallerTime, nil
	case ask.CallerTime < maxCallerTime || count < manyEvaluations:
		return maxCallerTime, nil
	}
	waiting, err := queryNextWork(tx, ask.Device, receivableKindSQL(ask)+" and requires in ? and turn_of = ?",
		manyEvaluations, at, needs, next.TurnOwner)
	if err != nil || len(waiting) < manyEvaluations {
		return maxCallerTime, err
	}
	return maxManyCallerTime, nil
}
