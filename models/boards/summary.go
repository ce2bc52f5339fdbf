package boards

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Summary is a board in short.
type Summary struct {
	Device  string
	Size    int64    // people on it
	Leaders []Leader // the first three
	Steps   Steps
}

// Leader is what a summary has of an entry: a list of tasks decodes hundreds.
type Leader struct {
	Rank     int
	Tied     bool
	RunID    int64
	UserID   int64
	UserName string `json:"-"`
	ScoreNS  float64
}

// short is what a summary reads of a board.
type short struct {
	VersionID int64
	Device    string
	Size      int64
	Leaders   []Leader `gorm:"serializer:json"`
	Steps     Steps    `gorm:"serializer:json"`
}

// Key names a board.
type Key struct {
	VersionID int64
	Device    string
}

// Summaries reads size and leaders of every board of these versions.
func (s *Boards) Summaries(ctx context.Context, versionIDs []int64) (map[Key]Summary, error) {
	var boards []short
	err := s.db.Read(ctx).Model(&Board{}).Select("version_id", "device", "size", "leaders", "steps").Where("version_id in ?", versionIDs).Find(&boards).Error
	if err != nil {
		return nil, fmt.Errorf("reading boards: %w", err)
	}
	people, err := s.people(ctx, boards)
	if err != nil {
		return nil, err
	}
	out := make(map[Key]Summary, len(boards))
	for _, b := range boards {
		for i, e := range b.Leaders {
			b.Leaders[i].UserName = people[e.UserID]
		}
		out[Key{b.VersionID, b.Device}] = Summary{Device: b.Device, Size: b.Size, Leaders: b.Leaders, Steps: b.Steps}
	}
	return out, nil
}

// people reads the names of who leads any of the boards, by id.
func (s *Boards) people(ctx context.Context, boards []short) (map[int64]string, error) {
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
