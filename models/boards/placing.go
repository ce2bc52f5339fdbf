package boards

import (
	"context"
	"fmt"
	"slices"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

// EntrySummary is a person's entry on a current board, with a third of the columns of an Entry.
type EntrySummary struct {
	VersionID    int64
	Device       string
	RunID        int64
	SubmissionID int64
	ScoreNS      float64 `gorm:"column:score_ns"`
	Rank         int
	Tied         bool
	TaskSlug     string
	TaskTitle    string
	Devices      []string `gorm:"serializer:json"` // devices of the task
	PeopleCount  int64    `gorm:"column:size"`     // people on the board
	// HasOlderSoftware means that the entry's epoch is older than the board's: the entry has no rank until it is
	// measured again.
	HasOlderSoftware bool `gorm:"column:stale"`
}

// PersonEntries lists a person's entries on current boards that the viewer may see, in the order of Tasks, from offset
// on. more reports whether others follow. It makes one query.
func (s *Boards) PersonEntries(
	ctx context.Context, viewer accounts.User, userID int64, offset, limit int,
) (list []EntrySummary, more bool, err error) {
	part := s.db.Read(ctx).Table("entries e").
		Select("e.version_id, e.device, e.user_id, t.slug as task_slug, t.title as task_title, t.devices, t.id as task_id, case when t.deadline is null or t.deadline > ? then 0 else 1 end as closed", db.Now()).
		// both joins use primary keys only
		Joins("join task_versions v on v.id = e.version_id").Joins("join tasks t on t.id = v.task_id and t.version_id = v.id").
		Where("e.user_id = ?", userID)
	part = catalog.RestrictToActivityOf(part, viewer, userID)
	// limit before the joins below, so that an index finds the other columns
	part = part.Order("closed, task_id desc, device").Offset(max(offset, 0)).Limit(limit + 1)
	err = s.db.Read(ctx).Table("(?) k", part).
		Select("e.version_id, e.device, e.run_id, e.submission_id, e.score_ns, k.task_slug, k.task_title, k.devices, " + bandColumns + ", c.size, c.epoch_id > -e.age as stale").
		Joins("join entries e on e.version_id = k.version_id and e.device = k.device and e.user_id = k.user_id").Joins(joinBandSQL).
		Joins("join boards c on c.version_id = e.version_id and c.device = e.device").
		Order("k.closed, k.task_id desc, k.device").Scan(&list).Error
	if err != nil {
		return nil, false, fmt.Errorf("listing the places of person %d: %w", userID, err)
	}
	if more = len(list) > limit; more {
		list = list[:limit]
	}
	// Omit boards of devices that the task no longer lists.
	list = slices.DeleteFunc(list, func(p EntrySummary) bool { return !slices.Contains(p.Devices, p.Device) })
	return list, more, nil
}
