package boards

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"warpboard/models/db"
)

// BoardSummary is a short description of a board. Callers share it and must not modify its slices.
type BoardSummary struct {
	Device       string
	ChangeNumber int64    `gorm:"column:change"` // may be older than the other fields, which are read later
	PeopleCount  int64    // number of people on it
	Leaders      []Leader // first three entries
	RecordScores RecordScores
	OwnRank      PersonRank // place of the person that SummariesOf was called for
}

// PersonRank is a person's rank on a board. The zero value means no rank.
type PersonRank struct {
	Rank int
	Tied bool
}

// Leader is the part of an entry that a summary has. It is small, because a list of tasks decodes hundreds of them.
type Leader struct {
	Rank     int
	Tied     bool
	RunID    int64
	UserID   int64
	UserName string `json:"-"`
	ScoreNS  float64
	Interval
}

// summaryRow has the columns that a summary reads of a board.
type summaryRow struct {
	VersionID    int64
	Device       string
	ChangeNumber int64        `gorm:"column:change"`
	PeopleCount  int64        `gorm:"column:size"`
	Leaders      []Leader     `gorm:"serializer:json"`
	RecordScores RecordScores `gorm:"column:steps;serializer:json"`
	// EncodedRank is twice the number of entries ahead of the person's band, plus 1 if the band has other entries; nil
	// without an entry.
	EncodedRank *int64 `gorm:"column:band"`
}

func (b summaryRow) ownRank() PersonRank {
	if b.EncodedRank == nil {
		return PersonRank{}
	}
	return PersonRank{Rank: int(*b.EncodedRank/2) + 1, Tied: *b.EncodedRank%2 == 1}
}

// BoardKey identifies a board.
type BoardKey struct {
	VersionID int64
	Device    string
}

// Summaries returns the size and the leading entries of every board of some versions.
func (s *Boards) Summaries(ctx context.Context, versionIDs []int64) (map[BoardKey]BoardSummary, error) {
	return s.summariesFor(ctx, 0, versionIDs)
}

// summariesFor returns the summaries of the boards of some versions, by version ID, with a person's rank on each board
// if userID is not 0. Entries of an older epoch rank after all others.
func (s *Boards) summariesFor(
	ctx context.Context, userID int64, versionIDs []int64,
) (map[BoardKey]BoardSummary, error) {
	q, columns := s.db.Read(ctx).Table("boards c").Where("c.version_id in ?", versionIDs), "c.version_id, c.device, c.change, c.size, c.leaders, c.steps"
	if userID != 0 {
		columns += ", (select 2 * f.ahead + case when f.size > 1 then 1 else 0 end " + bandOfEntrySQL + ") as band"
		q = q.Joins("left join entries e on e.user_id = ? and e.version_id = c.version_id and e.device = c.device", userID)
	}
	var boards []summaryRow
	if err := q.Select(columns).Scan(&boards).Error; err != nil {
		return nil, fmt.Errorf("reading boards: %w", err)
	}
	// Names are read after the boards, because a name must not be older than the change number under which it is
	// cached.
	people, err := s.leaderNames(ctx, boards)
	if err != nil {
		return nil, err
	}
	out := make(map[BoardKey]BoardSummary, len(boards))
	for _, b := range boards {
		for i, e := range b.Leaders {
			b.Leaders[i].UserName = people[e.UserID]
		}
		out[BoardKey{b.VersionID, b.Device}] = BoardSummary{
			Device: b.Device, ChangeNumber: b.ChangeNumber, PeopleCount: b.PeopleCount, Leaders: b.Leaders, RecordScores: b.RecordScores,
			OwnRank: b.ownRank(),
		}
	}
	return out, nil
}

// leaderNames returns the names of the people in the leading entries of boards, by ID.
func (s *Boards) leaderNames(ctx context.Context, boards []summaryRow) (map[int64]string, error) {
	names := map[int64]string{}
	for _, b := range boards {
		for _, e := range b.Leaders {
			names[e.UserID] = ""
		}
	}
	var list []struct {
		ID   int64
		Name string
	}
	err := s.db.Read(ctx).Table("users").Select("id, name").Where("id in ?", slices.Collect(maps.Keys(names))).Scan(&list).Error
	if err != nil {
		return nil, fmt.Errorf("reading leaders: %w", err)
	}
	for _, u := range list {
		names[u.ID] = u.Name
	}
	return names, nil
}

// SummariesOf returns the summaries of many boards, from the cache as far as possible, with a person's rank on each
// board if userID is not 0. It reads the change numbers in one query, and changed boards in two more.
func (s *Boards) SummariesOf(ctx context.Context, userID int64, versionIDs []int64) (map[BoardKey]BoardSummary, error) {
	heads, err := s.readChangeNumbers(ctx, versionIDs)
	if err != nil {
		return nil, err
	}
	out, missing := make(map[BoardKey]BoardSummary, len(heads)), map[int64]bool{}
	for _, h := range heads {
		key := BoardKey{h.VersionID, h.Device}
		if summary, ok := cachedSummary(s.cache, key, h.ChangeNumber, userID); ok {
			out[key] = summary
		} else {
			missing[h.VersionID] = true
		}
	}
	if len(missing) > 0 {
		read, err := s.summariesFor(ctx, userID, slices.Collect(maps.Keys(missing)))
		if err != nil {
			return nil, err
		}
		for key, summary := range read {
			cacheSummary(s.cache, key, summary, userID)
			out[key] = summary
		}
	}
	return out, nil
}

// boardChangeNumber is the change number of a board.
type boardChangeNumber struct {
	VersionID    int64
	Device       string
	ChangeNumber int64 `gorm:"column:change"`
}

// readChangeNumbers reads the change numbers of boards in one query.
func (s *Boards) readChangeNumbers(ctx context.Context, versionIDs []int64) (list []boardChangeNumber, err error) {
	// Rows, not Scan: reflection would be slow for hundreds of rows
	rows, err := s.db.Read(ctx).Table("boards").Select("version_id, device, change").Where("version_id in ?", versionIDs).Rows()
	if err != nil {
		return nil, db.ReadError(err, "the change numbers of boards")
	}
	defer rows.Close()
	for rows.Next() {
		var h boardChangeNumber
		if err := rows.Scan(&h.VersionID, &h.Device, &h.ChangeNumber); err != nil {
			return nil, db.ReadError(err, "the change number of a board")
		}
		list = append(list, h)
	}
	return list, db.ReadError(rows.Err(), "the change numbers of boards")
}
