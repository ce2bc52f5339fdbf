package boards

import (
	"context"
	"time"

	"warpboard/models/db"
)

// StandingsAt returns a board as it was at a time: each person's best run until then with the newest software of that
// time, in bands by the current rule. Runs that were disqualified, deleted, or measured again later have their current
// state, not the earlier one. It reads the whole board, one row per person.
func (s *Boards) StandingsAt(
	ctx context.Context, versionID int64, device string, at time.Time,
) (list []Standing, bands []Band, err error) {
	until := s.db.Read(ctx).Table("bests").
		Select("user_id, run_id, tries, row_number() over (partition by user_id order by score_ns, run_id) as place").
		Where("version_id = ? and device = ? and achieved_at <= ?", versionID, device, db.NormalizeTime(at)).
		Where("age = (select min(n.age) from bests n where n.version_id = ? and n.device = ? and n.achieved_at <= ?)", versionID, device, db.NormalizeTime(at))
	err = s.db.Read(ctx).Table("(?) e", until).
		Select(`r.version_id, r.device, r.user_id, r.id as run_id, r.submission_id, -r.epoch_id as age, r.score_ns, r.std_ns, r.err_ns, r.clock,
			r.interval_low, r.interval_high, r.processes, r.noisy, r.roof, r.pooled, r.disturbed, r.error_ulp, r.error_relative, r.memory_peak, r.scored_at as achieved_at, e.tries, u.name as user_name, u.no_dataset, ` + validationColumns).
		Joins("join runs r on r.id = e.run_id").Joins("join users u on u.id = e.user_id").Joins(joinValidationSQL).
		Where("e.place = 1").Order("r.score_ns, r.id").Scan(&list).Error
	if err != nil {
		return nil, nil, db.ReadError(err, "the board of a past time")
	}
	var cut bandBuilder
	for _, e := range list {
		cut.add(e.Entry)
	}
	for _, b := range cut.bands {
		for i := range list[b.EntriesBefore : b.EntriesBefore+b.EntryCount] {
			e := &list[int(b.EntriesBefore)+i]
			e.Rank, e.Tied = int(b.EntriesBefore)+1, b.EntryCount > 1
		}
	}
	return list, cut.bands, nil
}
