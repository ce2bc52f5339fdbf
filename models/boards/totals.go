package boards

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"warpboard/internal/gpuname"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

// Season is the time span of the runs that count, from Start to before End. The zero value is all time.
type Season struct{ Start, End time.Time }

// PeopleTotalsQuery selects the boards whose points are added up for PeopleTotals.
type PeopleTotalsQuery struct {
	Season
	Device string // a device or a family of devices; empty for all
}

// PeopleTotals lists all people with points, in order. Callers share it and must not modify it.
type PeopleTotals struct {
	People         []PersonTotal
	DeviceFamilies []string // families of the devices of all boards, in any scope
}

// IndexOfPerson returns a person's index in the list, or -1.
func (t PeopleTotals) IndexOfPerson(userID int64) int {
	return slices.IndexFunc(t.People, func(p PersonTotal) bool { return p.UserID == userID })
}

// scoredBoard is a board with points: a current board of a public task.
type scoredBoard struct {
	BoardKey
	taskID, changeNumber int64
	family               string
}

// isSelected reports whether the board belongs to a device or family; "" means all.
func (b scoredBoard) isSelected(device string) bool {
	return device == "" || strings.EqualFold(b.Device, device) || strings.EqualFold(b.family, device)
}

type (
	totalsKey struct {
		boardsDigest [sha256.Size]byte // digest of the boards and their change numbers
		season       Season
	}
	awardsKey struct {
		BoardKey
		changeNumber int64
		season       Season
	}
)

// PeopleTotals returns the totals of all people. It reads the change numbers of all boards, and the leading entries of
// changed boards in one or two more queries.
func (s *Boards) PeopleTotals(ctx context.Context, scope PeopleTotalsQuery) (PeopleTotals, error) {
	all, err := s.scoredBoards(ctx)
	if err != nil {
		return PeopleTotals{}, err
	}
	families := map[string]bool{}
	for _, b := range all {
		families[b.family] = true
	}
	out := PeopleTotals{DeviceFamilies: slices.Sorted(maps.Keys(families))}
	all = slices.DeleteFunc(all, func(b scoredBoard) bool { return !b.isSelected(scope.Device) })
	key := totalsKey{boardsDigest(all), scope.Season}
	people, ok := cachedValue[[]PersonTotal](s.cache, key)
	if !ok {
		if people, err = s.rankByAwards(ctx, all, scope.Season); err != nil {
			return PeopleTotals{}, err
		}
		s.cache.Put(key, people, int64(200+120*len(people)))
	}
	out.People = people
	return out, nil
}

// boardsDigest returns a hash of boards and their change numbers.
func boardsDigest(list []scoredBoard) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, b := range list {
		fmt.Fprintf(h, "%d %d %d %s\n", b.taskID, b.VersionID, b.changeNumber, b.Device)
	}
	h.Sum(sum[:0])
	return sum
}

// scoredBoards lists the boards with points, grouped by task.
func (s *Boards) scoredBoards(ctx context.Context) (list []scoredBoard, err error) {
	rows, err := s.db.Read(ctx).Table("tasks t").Select("t.id, t.devices, c.version_id, c.device, c.change").
		Joins("join boards c on c.version_id = t.version_id").Where(catalog.IsPublicSQL+" and c.size > 1", db.Now()).
		Order("t.id, c.device").Rows()
	if err != nil {
		return nil, db.ReadError(err, "the boards with points")
	}
	defer rows.Close()
	// keyed by the JSON text of a task's devices, which is the same for most tasks
	devices, families := map[string][]string{}, map[string]string{}
	for rows.Next() {
		var b scoredBoard
		var text string
		if err := rows.Scan(&b.taskID, &text, &b.VersionID, &b.Device, &b.changeNumber); err != nil {
			return nil, db.ReadError(err, "a board with points")
		}
		if _, known := devices[text]; !known {
			var names []string
			if err := json.Unmarshal([]byte(text), &names); err != nil {
				return nil, fmt.Errorf("reading the devices of task %d: %w", b.taskID, err)
			}
			devices[text] = names
		}
		if !slices.Contains(devices[text], b.Device) {
			continue // the task no longer lists this device
		}
		if families[b.Device] == "" {
			families[b.Device] = gpuname.Family(b.Device)
		}
		b.family = families[b.Device]
		list = append(list, b)
	}
	return list, db.ReadError(rows.Err(), "the boards with points")
}

// rankByAwards adds up the awards of boards and ranks the people.
func (s *Boards) rankByAwards(ctx context.Context, list []scoredBoard, season Season) ([]PersonTotal, error) {
	given, err := s.readCachedAwards(ctx, list, season)
	if err != nil {
		return nil, err
	}
	tallies := map[int64]*personTotalBuilder{}
	for _, b := range list {
		for _, a := range given[b.BoardKey] {
			t := tallies[a.userID]
			if t == nil {
				t = &personTotalBuilder{PersonTotal: PersonTotal{UserID: a.userID}}
				tallies[a.userID] = t
			}
			t.add(b.taskID, a)
		}
	}
	people := make([]PersonTotal, 0, len(tallies))
	for _, t := range tallies {
		people = append(people, t.total())
	}
	slices.SortFunc(people, func(a, b PersonTotal) int { return cmp.Or(b.compare(a), cmp.Compare(a.UserID, b.UserID)) })
	for i := range people {
		p := &people[i]
		p.Rank = i + 1
		if i > 0 && p.compare(people[i-1]) == 0 {
			p.Rank, p.Tied, people[i-1].Tied = people[i-1].Rank, true, true
		}
	}
	return people, nil
}

// compare compares totals for sorting: by points, then by medals.
func (t PersonTotal) compare(o PersonTotal) int {
	return cmp.Or(cmp.Compare(t.Points, o.Points), slices.Compare(t.Medals[:], o.Medals[:]))
}

// readCachedAwards returns the awards of boards, from the cache or the database.
func (s *Boards) readCachedAwards(
	ctx context.Context, list []scoredBoard, season Season,
) (map[BoardKey][]boardAward, error) {
	given, versions, devices := map[BoardKey][]boardAward{}, map[int64]bool{}, map[string]bool{}
	var missing []scoredBoard
	for _, b := range list {
		if found, ok := cachedValue[[]boardAward](s.cache, awardsKey{b.BoardKey, b.changeNumber, season}); ok {
			given[b.BoardKey] = found
			continue
		}
		missing = append(missing, b)
		versions[b.VersionID], devices[b.Device] = true, true
	}
	if len(missing) == 0 {
		return given, nil
	}
	read, err := s.readAwards(ctx, boardSelection{slices.Collect(maps.Keys(versions)), slices.Collect(maps.Keys(devices))}, season)
	if err != nil {
		return nil, err
	}
	for _, b := range missing {
		given[b.BoardKey] = read[b.BoardKey]
		s.cache.Put(awardsKey{b.BoardKey, b.changeNumber, season}, read[b.BoardKey],
			int64(200+56*len(read[b.BoardKey])))
	}
	return given, nil
}
