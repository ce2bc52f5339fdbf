package events

import (
	"context"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

// Events reads and stores the events of one database.
type Events struct {
	db         *db.DB
	openEvents atomic.Pointer[[]unfinishedEvent] // the unfinished events, as of the last ReadOpenEvents
}

// New returns the events of a database.
func New(database *db.DB) *Events { return &Events{db: database} }

// Event is a competition over several tasks with a common start and end.
type Event struct {
	ID               int64
	Slug             string // name in URLs
	Title            string
	OwnerID          int64
	Description      string `gorm:"column:about"` // Markdown
	StartsAt         time.Time
	EndsAt           time.Time
	FrozenAt         *time.Time // time from which the standings do not change; nil for never
	RevealedAt       *time.Time // time since when all results are in the standings
	PointsRuleText   string     `gorm:"column:points"`  // see PointsRule
	EntrantsAreTeams bool       `gorm:"column:by_team"` // teams are the entrants; a person without a team is alone

	CommentsClosed bool // from start to end only moderators may comment on its tasks

	CreatedAt time.Time
}

// EventTask is a task of an event.
type EventTask struct {
	EventID int64 `gorm:"primaryKey;autoIncrement:false"`
	TaskID  int64 `gorm:"primaryKey;autoIncrement:false"`

	Position int // position among the event's tasks, from 0
}

// HasBegun reports whether the event has begun at a time.
func (e Event) HasBegun(at time.Time) bool { return !at.Before(e.StartsAt) }

// HasEnded reports whether the event has ended at a time. The end itself is too late for submissions.
func (e Event) HasEnded(at time.Time) bool { return !at.Before(e.EndsAt) }

// RoundToMinute rounds a past time down to the minute and limits it to the event's duration and to now, so that the
// number of cached standings is limited.
func (e Event) RoundToMinute(at, now time.Time) time.Time {
	if e.HasEnded(now) && !at.Before(e.EndsAt.Truncate(time.Second)) { // URLs contain times in whole seconds
		return e.EndsAt
	}
	if at.After(now) {
		at = now
	}
	if at = at.Truncate(time.Minute); at.Before(e.StartsAt) {
		return e.StartsAt
	}
	return at
}

// IsFrozen reports whether the standings are frozen at a time.
func (e Event) IsFrozen(at time.Time) bool {
	return e.FrozenAt != nil && e.RevealedAt == nil && !at.Before(*e.FrozenAt)
}

// EditableBy reports whether the person may change the event and reveal its results.
func (e Event) EditableBy(u accounts.User) bool {
	return u.CanPerform(accounts.EditEvent, accounts.OwnerIDs{AuthorID: e.OwnerID})
}

// EventRow is an event with the name of its organizer.
type EventRow struct {
	Event
	OwnerName string
	TaskCount int
}

// maxEvents limits a list of events.
const maxEvents = 200

// List lists events without their announcements, latest end first.
func (s *Events) List(ctx context.Context) (list []EventRow, err error) {
	err = s.listQuery(ctx, "e.id, e.slug, e.title, e.owner_id, e.starts_at, e.ends_at, e.frozen_at, e.revealed_at, e.points, e.by_team, e.comments_closed, e.created_at").Order("e.ends_at desc, e.id desc").Limit(maxEvents).Scan(&list).Error
	return list, db.ReadError(err, "events")
}

// Event returns the event with a slug.
func (s *Events) Event(ctx context.Context, slug string) (found EventRow, err error) {
	err = s.listQuery(ctx, "e.*").Where("e.slug = ?", slug).Take(&found).Error
	return found, db.ReadError(err, "event %q", slug)
}

func (s *Events) listQuery(ctx context.Context, columns string) *gorm.DB {
	return s.db.Read(ctx).Table("events e").Joins("join users u on u.id = e.owner_id").
		Select(columns + ", u.name as owner_name, (select count(*) from event_tasks t where t.event_id = e.id) as task_count")
}

// Tasks lists the tasks of an event in the organizer's order. The caller must check ListedTo before showing one.
func (s *Events) Tasks(ctx context.Context, eventID int64) ([]catalog.Task, error) {
	return readEventTasks(s.db.Read(ctx), eventID)
}

func readEventTasks(tx *gorm.DB, eventID int64) (list []catalog.Task, err error) {
	err = tx.Joins("join event_tasks et on et.task_id = tasks.id").Where("et.event_id = ?", eventID).
		Order("et.position, tasks.title, tasks.id").Find(&list).Error
	return list, db.ReadError(err, "tasks of event %d", eventID)
}

// Now returns the current time by which events start, freeze, and end.
func (s *Events) Now() time.Time { return db.NormalizeTime(s.db.Read(context.Background()).NowFunc()) }
