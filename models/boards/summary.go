package boards

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"warpboard/models/accounts"
)

// Summary is a board in short.
type Summary struct {
	Device  string
	Size    int64      // people on it
	Leaders []Standing // the first three
	Steps   Steps
}

// Key names a board.
type Key struct {
	VersionID int64
	Device    string
}

// Summaries reads size and leaders of every board of these versions.
func (s *Boards) Summaries(ctx context.Context, versionIDs []int64) (map[Key]Summary, error) {
	var boards []Board
	if err := s.db.Read(ctx).Where("version_id in ?", versionIDs).Find(&boards).Error; err != nil {
		return nil, fmt.Errorf("reading boards: %w", err)
	}
	people, err := s.people(ctx, boards)
	if err != nil {
		return nil, err
	}
	out := make(map[Key]Summary, len(boards))
	for _, b := range boards {
		summary := Summary{Device: b.Device, Size: b.Size, Steps: b.Steps}
		for _, e := range b.Leaders {
			u := people[e.UserID]
			summary.Leaders = append(summary.Leaders, Standing{Ranked: e, UserName: u.Name, AvatarURL: u.AvatarURL, GapNS: e.ScoreNS - b.Leaders[0].ScoreNS})
		}
		out[Key{b.VersionID, b.Device}] = summary
	}
	return out, nil
}

// Sizes counts the entries on all boards of each of these versions.
func (s *Boards) Sizes(ctx context.Context, versionIDs []int64) (map[int64]int64, error) {
	var rows []struct{ VersionID, Size int64 }
	err := s.db.Read(ctx).Model(&Board{}).Select("version_id, sum(size) as size").
		Where("version_id in ?", versionIDs).Group("version_id").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("reading sizes of boards: %w", err)
	}
	sizes := make(map[int64]int64, len(rows))
	for _, row := range rows {
		sizes[row.VersionID] = row.Size
	}
	return sizes, nil
}

// people reads who leads any of the boards, by id.
func (s *Boards) people(ctx context.Context, boards []Board) (map[int64]accounts.User, error) {
	users := map[int64]accounts.User{}
	for _, b := range boards {
		for _, e := range b.Leaders {
			users[e.UserID] = accounts.User{}
		}
	}
	var list []accounts.User
	if err := s.db.Read(ctx).Select("id", "name", "avatar_url").Where("id in ?", slices.Collect(maps.Keys(users))).Find(&list).Error; err != nil {
		return nil, fmt.Errorf("reading leaders: %w", err)
	}
	for _, u := range list {
		users[u.ID] = u
	}
	return users, nil
}
