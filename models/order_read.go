package models

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/samples"
	"warpboard/models/work"
	"warpboard/tasks"
)

// OrderWithReruns is an order of purpose PurposeRerun with its runs.
type OrderWithReruns struct {
	RerunOrder
	Runs []Rerun
}

// Rerun is the newest run of an order that measured an earlier run again.
type Rerun struct {
	work.Run
	OrderedAt           time.Time `gorm:"column:began"` // time of the order
	UserName            string
	TaskID              int64
	TaskSlug, TaskTitle string
	ScoreBefore         samples.Score `gorm:"-"` // score of the earlier run before the rerun counted
}

// NotMeasuredReason returns the reason why the rerun has no result and may be tried again. It returns "" if the rerun
// has a score, failed, or waits.
func (r Rerun) NotMeasuredReason() string {
	switch {
	case r.EndedAt == nil || r.ScoreNS != nil:
		return ""
	case r.State == work.StateCancelled:
		return "It was cancelled."
	case r.InfrastructureError || r.Failure == nil:
		return "It could not be measured because of infrastructure errors."
	}
	return ""
}

// FailureReason returns the public reason why the rerun failed. It returns "" if the rerun passed or waits.
func (r Rerun) FailureReason() string {
	if r.State == work.StateFailed && r.NotMeasuredReason() == "" {
		return r.PublicFailure()
	}
	return ""
}

// Reruns lists the newest orders of purpose PurposeRerun of a task's version, or of a device with new software, with
// their runs by board, fastest earlier score first. It omits runs of tasks that are not listed to the viewer.
func (s *Store) Reruns(
	ctx context.Context, viewer accounts.User, versionID int64, device string, limit int,
) (orders []OrderWithReruns, err error) {
	var found []RerunOrder
	err = s.db.Read(ctx).Where("purpose = ? and (version_id = ? or epoch_id <> 0 and device = ?)", work.PurposeRerun, versionID, device).
		Order("id desc").Limit(limit).Find(&found).Error
	if err != nil || len(found) == 0 {
		return nil, db.ReadError(err, "what is measured again")
	}
	ids := make([]int64, len(found))
	for i, o := range found {
		orders, ids[i] = append(orders, OrderWithReruns{RerunOrder: o}), o.ID
	}
	q := s.db.Read(ctx).Table("runs r").
		Select("r.*, o.created_at as began, u.name as user_name, t.id as task_id, t.slug as task_slug, t.title as task_title").
		Joins("join orders o on o.id = r.order_id").Joins("join users u on u.id = r.user_id").
		Joins("join task_versions v on v.id = r.version_id").Joins("join tasks t on t.id = v.task_id").
		Where("o.id in ? and r.id = (select max(n.id) from runs n where n.order_id = r.order_id and n.profile_of = r.profile_of)", ids)
	var list []Rerun
	if err := catalog.RestrictToListed(q, viewer).Order("t.id, r.device, r.id").Scan(&list).Error; err != nil || len(list) == 0 {
		return orders, db.ReadError(err, "runs that are measured again")
	}
	runs, versions := make([]int64, len(list)), make([]int64, len(list))
	for i, r := range list {
		runs[i], versions[i] = *r.ProfileOf, r.VersionID
	}
	history, err := samples.SampleHistory(s.db.Read(ctx), runs...)
	if err != nil {
		return nil, err
	}
	rankings, err := samples.RankingRulesOf(s.db.Read(ctx), versions...)
	for i, r := range list {
		list[i].ScoreBefore = samples.ScoreAt(history[*r.ProfileOf], *r.ProfileOf, r.OrderedAt, rankings[r.VersionID])
		at := slices.IndexFunc(orders, func(o OrderWithReruns) bool { return o.ID == *r.OrderID })
		orders[at].Runs = append(orders[at].Runs, list[i])
	}
	for _, o := range orders {
		slices.SortStableFunc(o.Runs, func(a, b Rerun) int {
			return cmp.Or(cmp.Compare(a.TaskID, b.TaskID), cmp.Compare(a.Device, b.Device), cmp.Compare(a.ScoreBefore.ScoreNS, b.ScoreBefore.ScoreNS))
		})
	}
	return orders, err
}

// ConfirmationSides is a confirmation with the submissions and scores of its two runs. It also has the turns that count
// for the source of the requested run, from all confirmations.
type ConfirmationSides struct {
	RerunOrder
	ChallengerSubmission, HolderSubmission int64
	EndedTurnCount                         int `gorm:"column:ended"` // number of turns that have ended
	// scores in nanoseconds before the confirmation
	ChallengerScoreBefore, HolderScoreBefore float64 `gorm:"-"`
	// ChallengerNS and HolderNS are the scores after the confirmation; nil if that side was not confirmed.
	ChallengerNS, HolderNS *float64 `gorm:"-"`

	CountedTurns         []samples.Sample `gorm:"-"` // turns that count, the oldest first
	NewestTurnSubmission int64            `gorm:"-"` // submission of the newest turn
}

// confirmedRun is a run with its last confirmation.
type confirmedRun struct {
	ConfirmationSides              `gorm:"embedded"`
	RunID, RunEpoch, RunSubmission int64
	Definition                     tasks.Definition `gorm:"serializer:json"`
	ScoreBeforeNS                  *float64         `gorm:"column:was_ns"`
}

// Confirmations returns, by run ID, the last confirmation in which each run is the challenger or the holder, with the
// turns of both sources. If a run is in none, but another run with equal source is, the result has only the turns of
// that source, and its ID is 0. Other runs are missing in the map. It makes at most three queries.
func (s *Store) Confirmations(ctx context.Context, runIDs ...int64) (map[int64]ConfirmationSides, error) {
	var rows []confirmedRun
	err := s.db.Read(ctx).Table("runs r").Joins("join task_versions v on v.id = r.version_id").
		Joins("left join orders o on o.id = (select max(id) from orders where challenger_id = r.id or holder_id = r.id)").
		Select(`o.*, r.id as run_id, r.epoch_id as run_epoch, r.submission_id as run_submission, r.was_ns, v.definition,
			(select submission_id from runs where id = o.challenger_id) as challenger_submission,
			(select submission_id from runs where id = o.holder_id) as holder_submission,
			(select count(*) from runs t where t.order_id = o.id and t.ended_at is not null) as ended`).
		Where("r.id in ?", runIDs).Scan(&rows).Error
	// The score of the run does not come from a confirmation.
	rows = slices.DeleteFunc(rows, func(r confirmedRun) bool { return r.ID == 0 && r.ScoreBeforeNS == nil })
	if err != nil || len(rows) == 0 {
		return nil, db.ReadError(err, "confirmations of runs %v", runIDs)
	}
	var sides []int64
	for _, r := range rows {
		sides = append(sides, r.RunID, r.ChallengerID, r.HolderID)
	}
	history, err := samples.SampleHistory(s.db.Read(ctx), sides...)
	if err != nil {
		return nil, err
	}
	of, others := map[int64]ConfirmationSides{}, map[int64]int64{}
	for _, r := range rows {
		c := r.sidesWithScores(history)
		of[r.RunID] = c
		if n := len(c.CountedTurns); n > 0 && c.CountedTurns[n-1].RunID != r.RunID { // an equal source was confirmed
			others[r.RunID] = c.CountedTurns[n-1].RunID
		}
	}
	if len(others) > 0 {
		found, err := s.Work.RunsByID(ctx, slices.Collect(maps.Values(others))...)
		if err != nil {
			return nil, err
		}
		for id, other := range others {
			c := of[id]
			c.NewestTurnSubmission = found[other].SubmissionID
			of[id] = c
		}
	}
	return of, nil
}

// sidesWithScores adds the scores of both sides, and the counted turns of the run's source.
func (r confirmedRun) sidesWithScores(history map[int64][]samples.Sample) ConfirmationSides {
	c := r.ConfirmationSides
	for _, sample := range history[r.RunID] {
		if sample.Purpose == work.PurposeConfirm && sample.EpochID == r.RunEpoch && sample.SetAsideAt == nil {
			c.CountedTurns = append(c.CountedTurns, sample)
		}
	}
	c.NewestTurnSubmission = r.RunSubmission
	side := func(id int64) (was float64, now *float64) {
		was = samples.ScoreAt(history[id], id, c.CreatedAt, r.Definition.RankingBy).ScoreNS
		if c.EndedAt != nil && slices.ContainsFunc(history[id], func(s samples.Sample) bool {
			return s.RunID == id && s.Purpose == work.PurposeConfirm && s.Reason != samples.ReasonUndecidedOrder &&
				!s.EndedAt.Before(c.CreatedAt) && !s.EndedAt.After(*c.EndedAt)
		}) {
			ns := samples.ScoreAt(history[id], id, *c.EndedAt, r.Definition.RankingBy).ScoreNS
			now = &ns
		}
		return was, now
	}
	c.ChallengerScoreBefore, c.ChallengerNS = side(c.ChallengerID)
	c.HolderScoreBefore, c.HolderNS = side(c.HolderID)
	return c
}
