package boards

import (
	"context"
	"fmt"
	"slices"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

// Placing is a person's entry on a current board of a task.
type Placing struct {
	Entry
	Rank      int // as Standing's
	TaskSlug  string
	TaskTitle string
	Devices   []string `gorm:"serializer:json"` // the task's
}

// Placings lists a person's entries on the boards that the viewer may see, in the order of Tasks, from the one at
// offset on. More reports whether others follow. It takes two queries, however many boards there are.
func (s *Boards) Placings(ctx context.Context, viewer accounts.User, userID int64, offset, limit int) (list []Placing, more bool, err error) {
	q := s.db.Read(ctx).Table("entries e").Select("e.*, t.slug as task_slug, t.title as task_title, t.devices").
		Joins("join tasks t on t.version_id = e.version_id").Where("e.user_id = ?", userID).
		Clauses(db.OrderBy("case when t.deadline is null or t.deadline > ? then 0 else 1 end, t.id desc, e.device", db.Now()))
	if !viewer.IsAdmin() {
		q = q.Where("t.visibility = ? or t.owner_id = ?", catalog.Public, viewer.ID)
	}
	if err := q.Offset(max(offset, 0)).Limit(limit + 1).Scan(&list).Error; err != nil {
		return nil, false, fmt.Errorf("listing the places of person %d: %w", userID, err)
	}
	if more = len(list) > limit; more {
		list = list[:limit]
	}
	list = slices.DeleteFunc(list, func(p Placing) bool { return !slices.Contains(p.Devices, p.Device) }) // the task has given up that board
	return list, more, s.addPlacingRanks(ctx, list)
}

func (s *Boards) addPlacingRanks(ctx context.Context, list []Placing) error {
	ids := make([]int64, len(list))
	for i, p := range list {
		ids[i] = p.RunID
	}
	var ahead []struct {
		RunID int64
		Count int
	}
	err := s.db.Read(ctx).Raw(`select e.run_id, (select count(*) from entries b
		where b.version_id = e.version_id and b.device = e.device and b.score_ns < e.score_ns) as count
		from entries e where e.run_id in ?`, ids).Scan(&ahead).Error
	if err != nil {
		return fmt.Errorf("counting better entries: %w", err)
	}
	for _, a := range ahead {
		list[slices.Index(ids, a.RunID)].Rank = a.Count + 1
	}
	return nil
}
