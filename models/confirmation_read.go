package models

import (
	"context"
	"encoding/json"

	"warpboard/models/db"
	"warpboard/models/pools"
	"warpboard/models/work"
	"warpboard/tasks"
)

// ConfirmationSides is a confirmation with the submissions of its two runs and their scores, and the legs of the source of the
// run that was asked about, of all its confirmations.
type ConfirmationSides struct {
	Confirmation
	ChallengerSubmission, HolderSubmission int64
	Ended                                  int      // its legs that are over
	ChallengerWas, HolderWas               float64  `gorm:"-"` // the scores before …
	ChallengerNS, HolderNS                 *float64 `gorm:"-"` // … and after; nil: that side was not confirmed

	Legs          []pools.Sample `gorm:"-"` // that count, the oldest first
	LegSubmission int64          `gorm:"-"` // of the newest leg
}

// confirmationRows has a row for each sample of the run and of both sides, and the task's definition in the first.
const confirmationRows = `select c.*, (select submission_id from runs where id = c.challenger_id) as challenger_submission,
		(select submission_id from runs where id = c.holder_id) as holder_submission,
		(select count(*) from runs t where t.confirmation_id = c.id and t.ended_at is not null) as ended,
		case when row_number() over (order by s.ended_at, s.id) = 1 then v.definition else '' end as definition,
		r.epoch_id as run_epoch, o.id as of_run, m.submission_id as by_submission, m.confirmation_id as by_confirmation, s.epoch_id as s_epoch_id, s.run_id as s_run_id, s.by_run as s_by_run,
		s.purpose as s_purpose, s.unfinished as s_unfinished, s.aside_at as s_aside_at, s.why as s_why, s.score_ns as s_score_ns, s.processes as s_processes, s.cases as s_cases, s.ended_at as s_ended_at
	from runs r join task_versions v on v.id = r.version_id
	left join confirmations c on c.id = (select max(o.id) from confirmations o where o.challenger_id = r.id or o.holder_id = r.id)
	join runs o on o.id in (r.id, c.challenger_id, c.holder_id) join ` + pools.OfRun + `
	left join runs m on m.id = s.by_run
	where r.id = ?
	order by s.ended_at, s.id`

// ConfirmationOf returns the last confirmation that a run is a side of, and the legs of its source, in one query. Its ID is 0
// if only equal sources were confirmed. NotFound: there is neither.
func (s *Store) ConfirmationOf(ctx context.Context, runID int64) (c ConfirmationSides, err error) {
	var rows []struct {
		ConfirmationSides `gorm:"embedded"`
		Definition        string
		RunEpoch, OfRun   int64
		BySubmission      int64
		ByConfirmation    int64
		Sample            pools.Sample `gorm:"embedded;embeddedPrefix:s_"`
	}
	if err := s.db.Read(ctx).Raw(confirmationRows, runID).Scan(&rows).Error; err != nil {
		return c, db.ReadError(err, "confirmation of run %d", runID)
	}
	history, confirmed := map[int64][]pools.Sample{}, map[int64]bool{}
	for i, row := range rows {
		if i == 0 {
			c = row.ConfirmationSides
		}
		history[row.OfRun] = append(history[row.OfRun], row.Sample)
		if row.Sample.Purpose != work.Confirm || row.Sample.Why == pools.Undecided {
			continue
		}
		if row.ByConfirmation == c.ID {
			confirmed[row.Sample.RunID] = true
		}
		if row.OfRun == runID && row.Sample.EpochID == row.RunEpoch && row.Sample.AsideAt == nil {
			c.Legs, c.LegSubmission = append(c.Legs, row.Sample), row.BySubmission
		}
	}
	if c.ID == 0 && len(c.Legs) == 0 {
		return c, db.Errorf(db.NotFound, "Run %d was not confirmed.", runID)
	}
	var definition tasks.Definition
	err = json.Unmarshal([]byte(rows[0].Definition), &definition)
	ranking := definition.RankingBy
	side := func(runID int64) (was float64, now *float64) {
		was = pools.At(history[runID], runID, c.CreatedAt, ranking).ScoreNS
		if c.EndedAt != nil && confirmed[runID] {
			ns := pools.At(history[runID], runID, *c.EndedAt, ranking).ScoreNS
			now = &ns
		}
		return was, now
	}
	c.ChallengerWas, c.ChallengerNS = side(c.ChallengerID)
	c.HolderWas, c.HolderNS = side(c.HolderID)
	return c, db.ReadError(err, "the task of run %d", runID)
}
