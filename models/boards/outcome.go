package boards

import (
	"context"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Outcome is the result of a ranked run on its board: compared with the person's best run, with the person's rank and
// the entry ahead. Pages, the API, the command line, and webhooks show it.
type Outcome struct {
	Rank           int   // the person's rank; 0 if their entry was measured with older software
	Tied           bool  // others share that rank
	TiedWithCount  int64 `gorm:"column:tied_with"` // number of people who share the rank
	PeopleOnBoard  int64 `gorm:"column:people"`    // people on the board
	IsEntry        bool  `gorm:"column:entry"`     // the run is the person's entry: none of theirs is faster
	IsPersonsFirst bool  `gorm:"column:first"`     // the run is the person's first ranked run on the board
	IsRecord       bool  `gorm:"column:record"`    // the entry was the fastest on the board when its run ended
	// Unconfirmed means that the run set a record and was disturbed or noisy, and that its score is not confirmed yet.
	Unconfirmed        bool
	AwaitsConfirmation bool  `gorm:"column:confirming"` // the entry waits to be measured again
	LeadingRun         int64 `gorm:"column:first_run"`  // run that leads the board; 0: unknown

	// BestRun is the person's best run other than this one: the previous entry if this run is the entry, otherwise the
	// entry.
	BestRun         int64 // 0 if there is none
	BestSubmission  int64
	BestNS          float64 `gorm:"column:best_ns"`
	BestRank        int     // rank of the best run, or the rank that it would have now
	BestTied        bool
	BestWithinNoise bool `gorm:"column:best_unclear"` // the data do not show which of this run and BestRun is faster

	// NextRun is the entry ahead in rank; at rank 1 the entry behind.
	NextRun         int64 // 0 if there is none
	NextSubmission  int64
	NextUser        string
	NextNS          float64 `gorm:"column:next_ns"`
	NextRank        int
	NextTied        bool
	NextWithinNoise bool `gorm:"column:next_unclear"` // the data do not show which of this entry and NextRun is faster
	// NextRankReason is the reason why this entry and the next one have different ranks although the data do not show a
	// difference (such as ReasonWideInterval). It is empty if they have the same rank.
	NextRankReason string `gorm:"column:next_why"`

	RooflineShare *float64 `gorm:"column:roof"` // share of the device's limit that the score reaches
}

// HideNext removes the data of other people's entries, for viewers who may not see them.
func (o *Outcome) HideNext() {
	o.LeadingRun, o.NextRun, o.NextSubmission, o.NextUser, o.NextNS, o.NextRank, o.NextTied, o.NextWithinNoise, o.NextRankReason = 0, 0, 0, "", 0, 0, false, false, ""
}

// Outcomes returns the outcomes of a submission's runs that may be entries, by run ID, with the validation of those
// that are. A run whose person has no entry on the board has none.
func (s *Boards) Outcomes(ctx context.Context, runs ...Entry) (map[int64]*Outcome, map[int64]ValidationResult, error) {
	return OutcomesOf(s.db.Read(ctx), runs...)
}

// placedEntry is a person's entry with the columns from which an Outcome is made.
type placedEntry struct {
	Outcome `gorm:"embedded"`
	ValidationResult
	OwnEntry          Entry    `gorm:"embedded;embeddedPrefix:own_"`
	NextEntryInterval Interval `gorm:"embedded;embeddedPrefix:next_"`
	// FirstOfBetterRank is the first entry of the better rank, that of OwnEntry or of the next entry.
	FirstOfBetterRank Entry `gorm:"embedded;embeddedPrefix:lead_"`
	IsOfOlderEpoch    bool  `gorm:"column:older"`
}

// OutcomesOf returns the same as Outcomes in a transaction. It makes two queries if one of the runs is an entry,
// otherwise one.
func OutcomesOf(tx *gorm.DB, runs ...Entry) (map[int64]*Outcome, map[int64]ValidationResult, error) {
	outcomes, validated := map[int64]*Outcome{}, map[int64]ValidationResult{}
	if len(runs) == 0 {
		return outcomes, validated, nil
	}
	byDevice, devices := map[string]Entry{}, []string{}
	for _, run := range runs {
		byDevice[run.Device], devices = run, append(devices, run.Device)
	}
	var found []placedEntry
	err := tx.Raw(outcomeSQL, runs[0].VersionID, devices, runs[0].UserID).Scan(&found).Error
	var alone []int64
	for _, e := range found {
		run := byDevice[e.OwnEntry.Device]
		outcomes[run.RunID] = e.outcomeOf(run)
		if e.OwnEntry.RunID == run.RunID {
			validated[run.RunID] = e.ValidationResult
			// the score of a run with PooledRunCount includes the earlier runs of its source
			if run.PooledRunCount == 0 {
				alone = append(alone, run.RunID)
			}
		}
	}
	if err != nil || len(alone) == 0 {
		return outcomes, validated, db.ReadError(err, "places of runs of version %d", runs[0].VersionID)
	}
	best, err := previousBest(tx, alone)
	for _, id := range alone {
		outcomes[id].IsPersonsFirst = true
	}
	for _, b := range best {
		run := byDevice[b.Device]
		o := outcomes[run.RunID]
		o.IsPersonsFirst, o.BestRun, o.BestSubmission, o.BestNS, o.BestRank = false, b.RunID, b.SubmissionID, b.ScoreNS, b.Rank
		o.BestWithinNoise = MayBeTied(run, b.Entry)
	}
	return outcomes, validated, err
}

// outcomeOf returns the outcome of a run of the entry's person, without the person's previous best run.
func (e placedEntry) outcomeOf(run Entry) *Outcome {
	o, own := e.Outcome, e.OwnEntry
	o.NextWithinNoise = o.NextRun != 0 && MayBeTied(run, Entry{ScoreNS: o.NextNS, Interval: e.NextEntryInterval})
	if e.IsOfOlderEpoch { // an entry of an older epoch has no rank until it is measured again
		o = Outcome{}
	}
	o.RooflineShare = run.RooflineShare
	if own.RunID != run.RunID {
		o.IsRecord, o.Unconfirmed, o.AwaitsConfirmation = false, false, false
		if own.EpochSortKey != run.EpochSortKey { // scores of other software are not compared
			o.HideNext()
			return &o
		}
		o.BestRun, o.BestSubmission, o.BestNS, o.BestRank, o.BestTied = own.RunID, own.SubmissionID, own.ScoreNS, o.Rank, o.Tied
		o.BestWithinNoise = MayBeTied(run, own)
		return &o
	}
	o.IsEntry, o.Unconfirmed = true, o.IsRecord && o.Unconfirmed
	if o.NextWithinNoise && o.NextRank != o.Rank {
		behind := own
		if o.NextRank > o.Rank {
			behind = Entry{ScoreNS: o.NextNS, Interval: e.NextEntryInterval}
		}
		o.NextRankReason = reasonForLowerRank(e.FirstOfBetterRank, behind)
	}
	return &o
}

// FirstPlaceRuns returns the run in 1st place of each board of a version, by device.
func (s *Boards) FirstPlaceRuns(ctx context.Context, versionID int64, devices ...string) (map[string]int64, error) {
	var list []Entry
	err := s.db.Read(ctx).Table("bands").Select("device, run_id").Where("version_id = ? and device in ? and ahead = 0", versionID, devices).Scan(&list).Error
	firsts := make(map[string]int64, len(list))
	for _, e := range list {
		firsts[e.Device] = e.RunID
	}
	return firsts, db.ReadError(err, "first runs of version %d", versionID)
}

// outcomeSQL selects a person's entry with the columns of placedEntry. The entry ahead is the last one before the
// entry's band; for the first band it is the next entry.
const outcomeSQL = `select e.version_id as own_version_id, e.device as own_device, e.user_id as own_user_id, e.run_id as own_run_id,
		e.submission_id as own_submission_id, e.age as own_age, e.score_ns as own_score_ns, e.interval_low as own_interval_low, e.interval_high as own_interval_high,
		` + bandColumns + `, b.size - 1 as tied_with, c.size as people, c.epoch_id > -e.age as older, c.confirming = e.run_id as confirming,
		exists (select 1 from records r where r.version_id = e.version_id and r.device = e.device and r.run_id = e.run_id) as record, ` + isUnconfirmedSQL + ` as unconfirmed,
		(select f.run_id from bands f where f.version_id = e.version_id and f.device = e.device and f.ahead = 0) as first_run,
		n.run_id as next_run, n.submission_id as next_submission, u.name as next_user, n.score_ns as next_ns, n.interval_low as next_interval_low, n.interval_high as next_interval_high, m.ahead + 1 as next_rank, m.size > 1 as next_tied,
		p.score_ns as lead_score_ns, p.interval_low as lead_interval_low, p.interval_high as lead_interval_high, ` + validationColumns + `
	from entries e ` + joinBandSQL + `
	join boards c on c.version_id = e.version_id and c.device = e.device
	join runs q on q.id = e.run_id
	left join entries n on n.version_id = e.version_id and n.device = e.device and n.user_id = coalesce(
		(select a.user_id ` + sameEpochSQL + ` and (a.score_ns, a.run_id) < (b.score_ns, b.run_id) order by a.score_ns desc, a.run_id desc limit 1),
		(select a.user_id ` + sameEpochSQL + ` and a.user_id <> e.user_id order by a.score_ns, a.run_id limit 1))
	left join bands m on m.version_id = n.version_id and m.device = n.device and m.run_id = (select f.run_id from bands f
		where f.version_id = n.version_id and f.device = n.device and f.age = n.age and (f.score_ns, f.run_id) <= (n.score_ns, n.run_id)
		order by f.score_ns desc, f.run_id desc limit 1)
	left join entries p on p.run_id = case when m.ahead < b.ahead then m.run_id else b.run_id end
	left join users u on u.id = n.user_id
	` + joinValidationSQL + `
	where e.version_id = ? and e.device in ? and e.user_id = ?`

const sameEpochSQL = "from entries a where a.version_id = e.version_id and a.device = e.device and a.age = e.age"
