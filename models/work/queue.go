package work

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/switches"
)

// fairQueueSQL is the order of the queue. For each device, work that a worker already has comes first; then one
// evaluation of each caller that has had none since it was queued, or since a run has waited; then other evaluations
// and runs; then profiles that follow ranked runs; then baselines; then reruns. Within each of these groups, people and
// callers alternate, and running work counts. Of two items with the same turn number, the one that has waited longer
// comes first; the wait begins when the work was queued or, if later, when the last work of the same group and person
// or caller ended on the device. Evaluations of a batch alternate with runs. StartNextAttempt and the pages read this
// query.
const fairQueueSQL = `
	select *, row_number() over (partition by device
			order by sent desc, dispatched_at, case when priority = 0 and (turn > 1 or served_at is not null) then 1 else priority end, turn,
				case when served_at > queued_at then served_at else queued_at end, run_id, evaluation_id) as place
	from (` + workWithTurnsSQL + `) turns where started_at is null`

// workWithTurnsSQL selects all live work with a turn number, which counts the work of each person or caller. Example:
// on one device Ann's run a1 is running. a2 and a3 of Ann and b1 of Ben wait with the same priority, queued in the
// order a2, a3, b1. a1 is Ann's first turn, so a2 is her second and a3 her third; b1 is Ben's first. The order is
//
// 1: b1 (turn 1)
//
// 2: a2 (turn 2)
//
// 3: a3 (turn 3)
//
// So a person who queues a hundred runs delays each of the others by one run, not by a hundred.
const workWithTurnsSQL = `
		select *, max(case when turn = 1 then (` + lastTurnEndSQL + `) end) over (partition by device, priority, turn_of) as served_at
		from (select *, case when attempt_id <> '' then 1 else 0 end as sent,
			case when priority = 0 and ` + firstRunSQL + ` < queued_at then ` + firstRunSQL + ` else queued_at end as served_since,
			row_number() over (partition by device, priority, turn_of
				order by case when started_at is not null then 0 when attempt_id <> '' then 1 else 2 end, queued_at, run_id, evaluation_id) as turn
		from (` + allLiveWorkSQL + `) live) w`

// firstRunSQL selects the time since when a person's run waits for the device, or null.
const firstRunSQL = `min(case when priority = 1 and attempt_id = '' then queued_at end) over (partition by device)`

// lastTurnEndSQL selects the time of the latest end, after work w was queued, of work of the same person or caller with
// the same priority. For an evaluation, it is the latest end since a run has waited, if that was queued earlier. It
// reads one index entry for each person or caller and priority. For turns of confirmations it selects nothing, because
// their wait begins when they are queued.
const lastTurnEndSQL = `select max(ended_at) from (
		select max(ended_at) as ended_at from runs where device = w.device and user_id = w.user_id and purpose <> 'confirm'
			and w.turn_of = 'person:' || cast(w.user_id as text) and ended_at > w.queued_at and dispatched_at is not null and ` + runPrioritySQL + ` = w.priority
		union all
		select max(ended_at) from evaluations where device = w.device and caller = w.turn_of
			and ended_at > w.served_since and dispatched_at is not null and ` + evaluationPrioritySQL + ` = w.priority) ends`

// QueuedWork is work that waits, with its position in the queue of its device.
type QueuedWork struct {
	RunID         int64  // 0 for an evaluation
	EvaluationID  string // empty for a run
	SubmissionID  int64  // submission of a run
	UserID        int64
	Kind          string // kind of an evaluation, or mode of a run
	Device        string
	Requires      string // packages that its worker must have; empty: none
	State         string
	SentToWorker  int `gorm:"column:sent"` // 1 if its job was sent to a worker
	Priority      Priority
	TurnOwner     string `gorm:"column:turn_of"` // key of the person, caller, or confirmation that it counts for
	TurnNumber    int    `gorm:"column:turn"`    // 1 for the owner's first item on the device, including running ones
	QueuePosition int    `gorm:"column:place"`   // 1 for the next item
	QueuedAt      time.Time
	NotBefore     *time.Time // time from which it may be tried again, after a loss
	AttemptID     string     // current attempt; empty if there is none
	DispatchedAt  *time.Time // time at which the current attempt was created
	StartedAt     *time.Time // time at which a worker received it; nil while it waits
}

// WorkRef returns the reference of the run or evaluation.
func (q QueuedWork) WorkRef() job.WorkRef {
	return job.WorkRef{RunID: q.RunID, EvaluationID: q.EvaluationID}
}

// IsConfirmation reports whether the work is a turn of a confirmation.
func (q QueuedWork) IsConfirmation() bool {
	return q.RunID > 0 && strings.HasPrefix(q.TurnOwner, confirmationTurnPrefix)
}

// IsBeforeNewRun reports whether the work comes before a run that a person without other work would submit now.
func (q QueuedWork) IsBeforeNewRun() bool {
	return q.SentToWorker == 1 || q.Priority <= PriorityRun && q.TurnNumber == 1
}

// WaitingQueue lists all waiting work, by device and position.
func (l *LifeCycle) WaitingQueue(ctx context.Context) ([]QueuedWork, error) {
	var list []QueuedWork
	err := l.db.Read(ctx).Raw("select * from (" + fairQueueSQL + ") q order by device, place").Scan(&list).Error
	return list, db.ReadError(err, "the queue")
}

// LiveQueue lists all live work by device: running work (QueuePosition is 0), oldest attempt first, then waiting work
// in the order of WaitingQueue.
func (l *LifeCycle) LiveQueue(ctx context.Context) ([]QueuedWork, error) {
	var list []QueuedWork
	err := l.db.Read(ctx).Raw("select * from (" + fairQueueSQL + " union all select *, 0 as place from (" + workWithTurnsSQL + `) taken
		where started_at is not null) q order by device, place, dispatched_at, run_id, evaluation_id`).Scan(&list).Error
	return list, db.ReadError(err, "the queue and what runs")
}

// NextWork lists the first limit runs and evaluations that wait for a device, have no attempt, and may start at a time.
// Work that pauses after a lost attempt keeps its position; other work may start before it.
func (l *LifeCycle) NextWork(ctx context.Context, device string, limit int, at time.Time) ([]QueuedWork, error) {
	return queryNextWork(l.db.Read(ctx), device, anyKindSQL, limit, at)
}

func queryNextWork(tx *gorm.DB, device, which string, limit int, at time.Time, args ...any) ([]QueuedWork, error) {
	var list []QueuedWork
	err := tx.Raw("select * from ("+fairQueueSQL+") q where device = ? and sent = 0 and (not_before is null or not_before <= ?) and "+which+
		" order by place limit ?", append(append([]any{device, db.NormalizeTime(at)}, args...), limit)...).Scan(&list).Error
	return list, db.ReadError(err, "the queue of %s", device)
}

// ReadyDevice is a device with waiting work that may start now.
type ReadyDevice struct {
	Device   string
	Requires string // packages that the work needs; only within ReadyDevices, empty in its result
	// PeoplesWorkCount is the number of waiting runs and evaluations that people requested: without profiles that
	// follow runs and the site's own work.
	PeoplesWorkCount int `gorm:"column:people"`
}

// maxReadyDevices limits the different devices and requirements that are read; those without requirements come first.
const maxReadyDevices = 500

// ReadyDevices lists the devices with waiting work that may start at a time. Work whose packages no worker has does not
// count; otherwise profiles and reruns would be preempted for it in vain.
func (l *LifeCycle) ReadyDevices(ctx context.Context, at time.Time) ([]ReadyDevice, error) {
	var list, ready []ReadyDevice
	err := l.db.Read(ctx).Raw(`select device, requires, sum(case when priority < ? then 1 else 0 end) as people
		from (`+allLiveWorkSQL+`) w where attempt_id = '' and (not_before is null or not_before <= ?)
		group by device, requires order by case when requires = '' then 0 else 1 end, device, min(queued_at) limit ?`,
		PriorityFollowUp, db.NormalizeTime(at), maxReadyDevices).Scan(&list).Error
	var workers []fleet.Worker
	if err == nil && slices.ContainsFunc(list, func(r ReadyDevice) bool { return r.Requires != "" }) {
		workers, err = l.fleet.Workers(ctx)
	}
	for _, r := range list {
		i := slices.IndexFunc(ready, func(known ReadyDevice) bool { return known.Device == r.Device })
		switch lack := l.fleet.MissingWorkerTextAmong(workers, r.Device, r.Requires, at); {
		case lack != "":
		case i >= 0:
			ready[i].PeoplesWorkCount += r.PeoplesWorkCount
		default:
			ready = append(ready, ReadyDevice{Device: r.Device, PeoplesWorkCount: r.PeoplesWorkCount})
		}
	}
	return ready, db.ReadError(err, "what could begin")
}

// QueuePositions returns the queue position of each waiting run of a submission, by run ID.
func (l *LifeCycle) QueuePositions(ctx context.Context, submissionID int64) (map[int64]int, error) {
	var list []QueuedWork
	err := l.db.Read(ctx).Raw("select * from ("+fairQueueSQL+") q where submission_id = ?",
		submissionID).Scan(&list).Error
	if err != nil {
		return nil, fmt.Errorf("reading places in the queue: %w", err)
	}
	places := make(map[int64]int, len(list))
	for _, q := range list {
		places[q.RunID] = q.QueuePosition
	}
	return places, nil
}

// QueuedSubmission is a submission in a queue. The caller must check ListedTo before showing it.
type QueuedSubmission struct {
	ID       int64
	UserID   int64
	UserName string
	// IsEventFrozen means that the event is frozen, so that other people may not see the submission.
	IsEventFrozen bool         `gorm:"column:frozen"`
	Task          catalog.Task `gorm:"embedded;embeddedPrefix:task_"` // columns for its names and for ListedTo
}

// ListedTo reports whether the queue may show the submission and its person to a viewer.
func (q QueuedSubmission) ListedTo(u accounts.User) bool {
	return q.UserID == u.ID || q.Task.ListedTo(u) && (!q.IsEventFrozen || u.IsAdmin())
}

// QueuedSubmissions reads the submissions with the given IDs in one query, unsorted.
func (l *LifeCycle) QueuedSubmissions(ctx context.Context, ids []int64) ([]QueuedSubmission, error) {
	var list []QueuedSubmission
	err := l.db.Read(ctx).Table("submissions s").
		Select("s.id, s.user_id, u.name as user_name, s.frozen_event <> 0 as frozen, t.slug as task_slug, t.title as task_title, t.id as task_id, t.visibility as task_visibility, t.opens_at as task_opens_at, t.owner_id as task_owner_id").
		Joins("join users u on u.id = s.user_id").Joins("join tasks t on t.id = s.task_id").
		Where("s.id in ?", ids).Scan(&list).Error
	return list, db.ReadError(err, "the submissions of the queue")
}

// QueueLength counts the live runs of a device, and its waiting work before and after a new run (see IsBeforeNewRun).
type QueueLength struct {
	Device        string
	Waiting       int
	Running       int
	AheadOfNewRun int `gorm:"column:ahead"`
	BehindNewRun  int `gorm:"column:behind"`
}

// isAheadOfNewSQL is SQL that counts the live work of a device for which IsBeforeNewRun is true: work that a worker
// has, and for the two highest priorities one item per person or caller. Computing turn numbers would take four times
// as long.
const isAheadOfNewSQL = `sum(case when started_at is null and attempt_id <> '' then 1 else 0 end)
	+ count(distinct case when priority <= 1 then cast(priority as text) || turn_of end)
	- count(distinct case when priority <= 1 and (started_at is not null or attempt_id <> '') then cast(priority as text) || turn_of end)`

// SiteLoad has the data for deciding whether the site accepts new work, and for estimating when that work starts.
type SiteLoad struct {
	QueueLengths  []QueueLength // lengths by device; devices without live work are missing
	PausedDevices map[string]fleet.Pause
	OffParts      []switches.OffPart
}

// ReadSiteLoad reads the load of all devices in one query.
func (l *LifeCycle) ReadSiteLoad(ctx context.Context) (loads SiteLoad, err error) {
	var rows []struct {
		QueueLength `gorm:"embedded"`
		Setting     string
	}
	err = l.db.Read(ctx).Raw(`select device, sum(case when run_id > 0 and started_at is null then 1 else 0 end) as waiting,
			sum(case when run_id > 0 and started_at is not null then 1 else 0 end) as running,
			` + isAheadOfNewSQL + ` as ahead, sum(case when started_at is null then 1 else 0 end) - (` + isAheadOfNewSQL + `) as behind, '' as setting
		from (` + allLiveWorkSQL + `) w group by device
		union all select key, 0, 0, 0, 0, value from settings where key like '` + fleet.PauseKeyPrefix + `%' or key like '` + switches.SettingPrefix + `%'`).Scan(&rows).Error
	loads.PausedDevices = map[string]fleet.Pause{}
	for _, row := range rows {
		if row.Setting == "" {
			loads.QueueLengths = append(loads.QueueLengths, row.QueueLength)
		} else if err := loads.add(row.Device, row.Setting); err != nil {
			return SiteLoad{}, err
		}
	}
	return loads, db.ReadError(err, "the queue's lengths")
}

// add adds a setting that pauses a device or switches a part of the site off.
func (l *SiteLoad) add(key, value string) error {
	device, isPause := strings.CutPrefix(key, fleet.PauseKeyPrefix)
	if !isPause {
		off, err := switches.ParseSetting(key, value)
		l.OffParts = append(l.OffParts, off)
		return err
	}
	var pause fleet.Pause
	if err := json.Unmarshal([]byte(value), &pause); err != nil {
		return fmt.Errorf("reading setting %s: %w", key, err)
	}
	l.PausedDevices[device] = pause
	return nil
}
