package models

import (
	"context"
	"time"

	"warpboard/models/db"
	"warpboard/models/pools"
)

// ConfirmationSides is a confirmation with the submissions of its two runs, and the legs of the source of the run that was
// asked about, of all its confirmations.
type ConfirmationSides struct {
	Confirmation
	ChallengerSubmission, HolderSubmission int64
	Ended                                  int         // its legs that are over
	Legs                                   []pools.Leg `gorm:"-"` // the oldest first, with run, score, cases, and time
	LegSubmission                          int64       // of the newest leg
}

// confirmationRows has one row, or one for each leg of the run's source with its software. The confirmation's columns are null if
// only equal sources were confirmed.
const confirmationRows = `select c.*, (select submission_id from runs where id = c.challenger_id) as challenger_submission,
		(select submission_id from runs where id = c.holder_id) as holder_submission,
		(select count(*) from runs t where t.confirmation_id = c.id and t.ended_at is not null) as ended,
		l.run_id as leg_run, l.score_ns as leg_score, l.processes as leg_processes, l.cases as leg_cases, l.created_at as leg_at,
		(select submission_id from runs where id = l.run_id) as leg_submission
	from runs r join submissions s on s.id = r.submission_id
	left join confirmations c on c.id = (select max(o.id) from confirmations o where o.challenger_id = r.id or o.holder_id = r.id)
	left join legs l on l.version_id = r.version_id and l.device = r.device and l.epoch_id = r.epoch_id and l.source_key = s.source_key
	where r.id = ? and (c.id is not null or l.id is not null)
	order by l.id`

// ConfirmationOf returns the last confirmation that a run is a side of, and the legs of its source, in one query. Its ID is 0
// if only equal sources were confirmed. NotFound: there is neither.
func (s *Store) ConfirmationOf(ctx context.Context, runID int64) (ConfirmationSides, error) {
	var rows []struct {
		ConfirmationSides `gorm:"embedded"`
		LegRun            *int64
		LegScore          float64
		LegProcesses      int
		LegCases          [][]float64 `gorm:"serializer:json"`
		LegAt             *time.Time
	}
	err := s.db.Read(ctx).Raw(confirmationRows, runID).Scan(&rows).Error
	switch {
	case err != nil:
		return ConfirmationSides{}, db.ReadError(err, "confirmation of run %d", runID)
	case len(rows) == 0:
		return ConfirmationSides{}, db.Errorf(db.NotFound, "Run %d was not confirmed.", runID)
	}
	c := rows[0].ConfirmationSides
	for _, row := range rows {
		if row.LegRun == nil {
			continue
		}
		leg := pools.Leg{RunID: *row.LegRun, ScoreNS: row.LegScore, Cases: row.LegCases, CreatedAt: *row.LegAt}
		leg.Processes = row.LegProcesses
		c.Legs, c.LegSubmission = append(c.Legs, leg), row.LegSubmission
	}
	return c, nil
}
