package boards

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"warpboard/internal/gpuname"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

// entriesForPointsSQL selects the entries that determine the points of each board, in the order of the board: entries
// measured with older software follow the others. The limits here and in lastEntrySQL make both databases find the last
// such entry of each board before they join. The union and the cross joins make SQLite use both columns (age and score)
// of the index.
const entriesForPointsSQL = `with c as (select b.version_id, b.device, coalesce((select x.age ` + lastEntrySQL + `), 0) as age, coalesce((select x.score_ns ` + lastEntrySQL + `), 1e300) as last
		from boards b where b.version_id in @versions and b.device in @devices limit 1000000),
	e as (select e.* from c cross join entries e where e.version_id = c.version_id and e.device = c.device and e.age = c.age and e.score_ns <= c.last
		union all select e.* from c cross join entries e where e.version_id = c.version_id and e.device = c.device and e.age < c.age)
	select e.version_id, e.device, e.user_id, e.run_id, e.age, e.score_ns, e.interval_low, e.interval_high, e.achieved_at from e
	order by e.version_id, e.device, e.age, e.score_ns, e.run_id`

// lastEntrySQL is the end of a query for a column of board b's last entry in entriesForPointsSQL. Boards with fewer
// entries have age 0 there, which no entry's age exceeds.
const lastEntrySQL = `from entries x where x.version_id = b.version_id and x.device = b.device order by x.age, x.score_ns, x.run_id limit 1 offset @most`

// seasonEntriesSQL is entriesForPointsSQL for a season. The table bests has only runs that improved their person's best
// time, so a person's newest one in the season is their fastest.
const seasonEntriesSQL = `with c as (select b.version_id, b.device, coalesce((select x.age ` + lastEntryOfSeasonSQL + `), 0) as age, coalesce((select x.score_ns ` + lastEntryOfSeasonSQL + `), 1e300) as last
		from boards b where b.version_id in @versions and b.device in @devices limit 1000000),
	x as (select x.* from c cross join bests x where x.version_id = c.version_id and x.device = c.device and x.age = c.age and x.score_ns <= c.last and ` + isBestOfSeasonSQL + `
		union all select x.* from c cross join bests x where x.version_id = c.version_id and x.device = c.device and x.age < c.age and ` + isBestOfSeasonSQL + `)
	select x.version_id, x.device, x.user_id, x.run_id, x.age, x.score_ns, r.interval_low, r.interval_high, x.achieved_at
	from x join runs r on r.id = x.run_id
	order by x.version_id, x.device, x.age, x.score_ns, x.run_id`

// lastEntryOfSeasonSQL is the end of a query for a column of board b's last entry in seasonEntriesSQL, as lastEntrySQL
// is for entriesForPointsSQL. A person's entry in a season is their last best run in it.
const lastEntryOfSeasonSQL = `from bests x where x.version_id = b.version_id and x.device = b.device and ` + isBestOfSeasonSQL + `
			order by x.age, x.score_ns, x.run_id limit 1 offset @most`

// isBestOfSeasonSQL is the condition that row x of the table bests is its person's last best run in a season. The limit
// keeps PostgreSQL from reading the runs of all people.
const isBestOfSeasonSQL = `x.achieved_at >= @from and x.achieved_at < @until and not exists (select 1 from bests y
			where y.version_id = x.version_id and y.device = x.device and y.user_id = x.user_id and (y.age, y.score_ns) < (x.age, x.score_ns)
				and y.achieved_at >= @from and y.achieved_at < @until limit 1)`

// boardSelection selects boards by lists of version IDs and devices. Besides the requested boards it may select boards
// that combine the version of one with the device of another.
type boardSelection struct {
	versions []int64
	devices  []string
}

// readAwards returns the awards of boards: the ranks and points of their leading entries. The award of a board's first
// entry also has the time since which its person holds the record. That is the time of their first record after the
// last record of another person; for a season, for which no records are stored, it is the time of the entry's run.
func (s *Boards) readAwards(ctx context.Context, of boardSelection, season Season) (map[BoardKey][]boardAward, error) {
	query, args := entriesForPointsSQL, []any{sql.Named("versions", of.versions), sql.Named("devices", of.devices), sql.Named("most", maxEntriesForPoints)}
	if season != (Season{}) {
		query, args = seasonEntriesSQL, append(args, sql.Named("from", db.NormalizeTime(season.Start)), sql.Named("until", season.endTime()))
	}
	rows, err := s.db.Read(ctx).Raw(query, args...).Rows()
	if err != nil {
		return nil, db.ReadError(err, "the first entries of boards")
	}
	defer rows.Close()
	entries := map[BoardKey][]Entry{}
	for rows.Next() {
		var e Entry
		if err := rows.Scan(&e.VersionID, &e.Device, &e.UserID, &e.RunID, &e.EpochSortKey, &e.ScoreNS, &e.LowNS, &e.HighNS, &e.AchievedAt); err != nil {
			return nil, db.ReadError(err, "a first entry of a board")
		}
		key := BoardKey{e.VersionID, e.Device}
		entries[key] = append(entries[key], e)
	}
	if err := rows.Err(); err != nil {
		return nil, db.ReadError(err, "the first entries of boards")
	}
	out := make(map[BoardKey][]boardAward, len(entries))
	for key, list := range entries {
		out[key] = boardAwards(list)
	}
	if season != (Season{}) {
		return out, nil
	}
	return out, s.setRecordTimes(ctx, of, out)
}

// endTime returns the end of a season. For an open season it is later than all runs.
func (s Season) endTime() time.Time {
	if s.End.IsZero() {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return db.NormalizeTime(s.End)
}

// setRecordTimes sets, for the award of each board's 1st place, the time since which the person holds the record: their
// first record after the last record of another person.
func (s *Boards) setRecordTimes(ctx context.Context, of boardSelection, given map[BoardKey][]boardAward) error {
	var list []Record
	err := s.db.Read(ctx).Table("boards c").Select("r.version_id, r.device, r.user_id, r.achieved_at").
		Joins("join records r on r.version_id = c.version_id and r.device = c.device and r.age = -c.epoch_id").
		Where("c.version_id in ? and c.device in ?", of.versions, of.devices).Order("r.version_id, r.device, r.score_ns").Scan(&list).Error
	// boards for which a record of another person was found: older records no longer count
	passed := map[BoardKey]bool{}
	for _, r := range list {
		key := BoardKey{r.VersionID, r.Device}
		switch list := given[key]; {
		case passed[key] || len(list) == 0 || list[0].achievedAt.IsZero():
		case list[0].userID != r.UserID:
			passed[key] = true
		default:
			list[0].achievedAt = r.AchievedAt
		}
	}
	return db.ReadError(err, "the records of boards")
}

// DeviceFamilyTotal is a person's total on the devices of a family. An empty name means all devices.
type DeviceFamilyTotal struct {
	Family string
	PersonTotal
}

// entryWithPointsData is a person's entry on a board, with the numbers of entries that determine its points.
type entryWithPointsData struct {
	TaskID        int64
	Device        string
	Devices       []string   `gorm:"serializer:json"` // devices of the task
	EntriesAhead  int        `gorm:"column:ahead"`
	BandSize      int        `gorm:"column:size"`
	EntriesBehind int        `gorm:"column:behind"`
	AchievedAt    *time.Time `gorm:"column:since"`
}

// ownAwardsSQL selects a person's entries that may have points: those whose score is at most maxBandRatio times that of
// the last band with points. Of hundreds of entries these are few. The limit keeps both databases from joining first.
// The band is selected with the exact condition of the index bands_last.
const ownAwardsSQL = `select e.task_id, e.device, e.devices, b.ahead, b.size, c.size - b.ahead - b.size as behind, r.achieved_at as since
	from (select t.id as task_id, t.devices, e.version_id, e.device, e.user_id, e.run_id, e.age, e.score_ns from entries e
		join tasks t on t.version_id = e.version_id
		left join bands l on l.version_id = e.version_id and l.device = e.device and l.ahead < %[1]d and l.ahead + l.size >= %[1]d
		where e.user_id = @person and (t.visibility = 'public' or t.visibility = 'hidden' and t.opens_at <= @now)
			and (e.age, e.score_ns) <= (coalesce(l.age, 0), coalesce(@reach * l.score_ns, 1e300))
		limit 1000000) e
	join boards c on c.version_id = e.version_id and c.device = e.device
	` + joinBandSQL + `
	left join records r on r.version_id = e.version_id and r.device = e.device and b.run_id = e.run_id and b.ahead = 0 and r.run_id = (
		select h.run_id from records h where h.version_id = e.version_id and h.device = e.device and h.age = e.age and h.user_id = e.user_id
			and h.score_ns < coalesce((select min(o.score_ns) from records o where o.version_id = e.version_id and o.device = e.device and o.age = e.age and o.user_id <> e.user_id), 1e300)
		order by h.score_ns desc limit 1)
	where b.ahead < %[1]d order by e.device`

// TotalsOf returns a person's points on all devices, and on each family of devices, in one query. It returns no ranks,
// which depend on everyone's points.
func (s *Boards) TotalsOf(ctx context.Context, userID int64) ([]DeviceFamilyTotal, error) {
	var list []entryWithPointsData
	if err := s.db.Read(ctx).Raw(fmt.Sprintf(ownAwardsSQL, ranksWithPoints), sql.Named("person", userID), sql.Named("reach", maxBandRatio), sql.Named("now", db.Now())).Scan(&list).Error; err != nil {
		return nil, fmt.Errorf("reading the points of person %d: %w", userID, err)
	}
	names, tallies := []string{}, map[string]*personTotalBuilder{}
	for _, own := range list {
		a := boardAward{
			userID: userID,
			points: pointsForRank(own.EntriesAhead, own.BandSize, own.EntriesBehind),
			rank:   own.EntriesAhead + 1,
		}
		if a.points == 0 || !slices.Contains(own.Devices, own.Device) {
			continue
		}
		if own.AchievedAt != nil {
			a.achievedAt = *own.AchievedAt
		}
		for _, family := range []string{"", gpuname.Family(own.Device)} {
			if tallies[family] == nil {
				names, tallies[family] = append(names, family),
					&personTotalBuilder{PersonTotal: PersonTotal{UserID: userID}}
			}
			tallies[family].add(own.TaskID, a)
		}
	}
	out := make([]DeviceFamilyTotal, len(names))
	for i, name := range names {
		out[i] = DeviceFamilyTotal{name, tallies[name].total()}
	}
	return out, nil
}

// PersonTotalWithName is a total with the data of its person for a list.
type PersonTotalWithName struct {
	PersonTotal
	UserName        string
	SubmissionCount int `gorm:"column:submissions"` // number of submissions to public tasks since a time
}

// AddPeopleNames returns totals with the names of their people, and the number of their submissions since a time.
func (s *Boards) AddPeopleNames(
	ctx context.Context, list []PersonTotal, since time.Time,
) ([]PersonTotalWithName, error) {
	ids, out := make([]int64, len(list)), make([]PersonTotalWithName, len(list))
	for i, t := range list {
		ids[i], out[i].PersonTotal = t.UserID, t
	}
	var people []struct {
		ID          int64
		Name        string
		Submissions int
	}
	err := s.db.Read(ctx).Table("users u").Select(`u.id, u.name, (select count(*) from submissions s join tasks t on t.id = s.task_id
			where s.user_id = u.id and s.created_at >= ? and `+catalog.IsPublicSQL+` and s.frozen_event = 0) as submissions`, db.NormalizeTime(since), db.Now()).
		Where("u.id in ?", ids).Scan(&people).Error
	byID := map[int64]int{}
	for i, p := range people {
		byID[p.ID] = i
	}
	for i := range out {
		if at, ok := byID[out[i].UserID]; ok {
			out[i].UserName, out[i].SubmissionCount = people[at].Name, people[at].Submissions
		}
	}
	return out, db.ReadError(err, "the people with points")
}
