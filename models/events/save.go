package events

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

// EventSettings has the properties of an event that its organizer sets.
type EventSettings struct {
	Title            string
	Description      string
	StartsAt         time.Time
	EndsAt           time.Time
	FrozenAt         *time.Time
	PointsRuleText   string
	EntrantsAreTeams bool

	CommentsClosed bool

	Tasks []string // slugs in display order
}

const (
	maxTitleLength = 120    // characters
	maxAboutLength = 20_000 // characters
	maxTasks       = 50
)

// Create creates an event from tasks that the actor may edit. The tasks close at its end.
func (s *Events) Create(ctx context.Context, actor accounts.User, in EventSettings) (e Event, err error) {
	if err := actor.CheckPermission(accounts.CreateTask, accounts.OwnerIDs{}); err != nil {
		return e, err
	}
	if err := in.check(); err != nil {
		return e, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		e = Event{Slug: db.Slug(in.Title), OwnerID: actor.ID, CreatedAt: db.Now()}
		if e.Slug == "" || e.Slug == "new" {
			return db.Errorf(db.Invalid, "The title needs letters or digits, for the event's address, and cannot be \"new\".")
		}
		if e.applySettings(in); e.HasEnded(db.NormalizeTime(tx.NowFunc())) {
			return db.Errorf(db.Invalid, "The end, %s UTC, has passed.", e.EndsAt.UTC().Format(utcFormat))
		}
		err := db.WriteError(tx.Create(&e).Error, "event")
		if db.KindOf(err) == db.Conflict {
			return db.Errorf(db.Conflict, "There is an event at /events/%s already: choose another title.", e.Slug)
		}
		if err != nil {
			return err
		}
		if err := e.setTasks(tx, actor, in.Tasks, true); err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "create event", "event "+e.Slug, "")
	})
	return e, s.reload(ctx, err)
}

// Update changes an event except its slug. If the time of the freeze changes, all results count as not revealed.
func (s *Events) Update(ctx context.Context, actor accounts.User, slug string, in EventSettings) (e Event, err error) {
	if err := in.check(); err != nil {
		return e, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("slug = ?", slug).Take(&e).Error; err != nil {
			return db.ReadError(err, "event %q", slug)
		}
		if err := actor.CheckPermission(accounts.EditEvent, accounts.OwnerIDs{AuthorID: e.OwnerID}); err != nil {
			return err
		}
		if err := e.setFreezeTime(tx, in.FrozenAt); err != nil {
			return err
		}
		over := e.EndsAt.Equal(db.NormalizeTime(in.EndsAt)) && !e.EndsAt.After(tx.NowFunc())
		e.applySettings(in)
		if err := tx.Save(&e).Error; err != nil {
			return db.WriteError(err, "event %s", e.Slug)
		}
		if err := e.setTasks(tx, actor, in.Tasks, !over); err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "change event", "event "+e.Slug, "")
	})
	return e, s.reload(ctx, err)
}

// Delete deletes an event. Its tasks keep their deadlines, boards, and submissions. The confirmation must be the
// event's title or slug.
func (s *Events) Delete(ctx context.Context, actor accounts.User, slug, confirmation string) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var e Event
		if err := tx.Where("slug = ?", slug).Take(&e).Error; err != nil {
			return db.ReadError(err, "event %q", slug)
		}
		if err := actor.CheckPermission(accounts.EditEvent, accounts.OwnerIDs{AuthorID: e.OwnerID}); err != nil {
			return err
		}
		if confirmation != e.Title && confirmation != e.Slug {
			return db.Errorf(db.Invalid, "To delete the event, type its name: %s", e.Slug)
		}
		if err := e.refuseWhileFrozen(tx, "delete the event"); err != nil {
			return err
		}
		if err := e.cancelTaskOpenings(tx); err != nil {
			return err
		}
		if err := tx.Delete(&e).Error; err != nil {
			return db.WriteError(err, "event %s", e.Slug)
		}
		return accounts.WriteAudit(tx, actor, "delete event", "event "+e.Slug, e.Title)
	})
	return s.reload(ctx, err)
}

// refuseWhileFrozen returns an error while results wait to be revealed.
func (e *Event) refuseWhileFrozen(tx *gorm.DB, what string) error {
	var waiting int64
	if err := tx.Table("submissions").Where("frozen_event = ?", e.ID).Count(&waiting).Error; err != nil {
		return db.ReadError(err, "frozen submissions of event %s", e.Slug)
	}
	if waiting > 0 {
		return db.Errorf(db.Conflict, "%d submissions are frozen. Reveal them before you %s.", waiting, what)
	}
	return nil
}

// setFreezeTime sets another time of the freeze, with no results revealed. It returns an error while results of the
// current freeze wait.
func (e *Event) setFreezeTime(tx *gorm.DB, to *time.Time) error {
	to = db.NormalizeTimePtr(to)
	if to == nil && e.FrozenAt == nil || to != nil && e.FrozenAt != nil && to.Equal(*e.FrozenAt) {
		return nil
	}
	if err := e.refuseWhileFrozen(tx, "change the freeze"); err != nil {
		return err
	}
	e.RevealedAt = nil
	return nil
}

// check returns one error that joins all mistakes in the settings.
func (in EventSettings) check() error {
	title := len([]rune(accounts.CleanName(in.Title)))
	_, rule := ParsePointsRule(in.PointsRuleText)
	var wrong []string
	refuse := func(bad bool, format string, a ...any) {
		if bad {
			wrong = append(wrong, fmt.Sprintf(format, a...))
		}
	}
	refuse(title == 0, "Give the event a title.")
	refuse(title > maxTitleLength, "The title has %d characters; at most %d are kept.", title, maxTitleLength)
	refuse(len([]rune(in.Description)) > maxAboutLength, "The announcement has %d characters; at most %d are kept.", len([]rune(in.Description)), maxAboutLength)
	switch {
	case in.StartsAt.IsZero() || in.EndsAt.IsZero():
		refuse(true, "Give the event a start and an end.")
	case !in.StartsAt.Before(in.EndsAt):
		refuse(true, "The event ends at %s UTC, which is not after its start.", in.EndsAt.UTC().Format(utcFormat))
	case in.FrozenAt != nil && (in.FrozenAt.Before(in.StartsAt) || !in.FrozenAt.Before(in.EndsAt)):
		refuse(true, "The freeze at %s UTC is not between the start and the end.", in.FrozenAt.UTC().Format(utcFormat))
	}
	refuse(len(in.Tasks) == 0, "Choose at least one task.")
	refuse(len(in.Tasks) > maxTasks, "An event has at most %d tasks, not %d.", maxTasks, len(in.Tasks))
	if rule != nil {
		wrong = append(wrong, rule.Error())
	}
	if len(wrong) == 0 {
		return nil
	}
	return db.Errorf(db.Invalid, "%s", strings.Join(wrong, " "))
}

func (e *Event) applySettings(in EventSettings) {
	e.Title, e.Description = accounts.CleanName(in.Title), db.SanitizeText(in.Description)
	e.StartsAt, e.EndsAt, e.FrozenAt = db.NormalizeTime(in.StartsAt), db.NormalizeTime(in.EndsAt), db.NormalizeTimePtr(in.FrozenAt)
	e.PointsRuleText, e.EntrantsAreTeams = strings.TrimSpace(in.PointsRuleText), in.EntrantsAreTeams
	e.CommentsClosed = in.CommentsClosed
}

// cancelTaskOpenings cancels the scheduled opening of the event's hidden tasks.
func (e *Event) cancelTaskOpenings(tx *gorm.DB) error {
	var ids []int64
	if err := tx.Model(&EventTask{}).Where("event_id = ?", e.ID).Pluck("task_id", &ids).Error; err != nil {
		return db.ReadError(err, "tasks of event %s", e.Slug)
	}
	return catalog.UnscheduleTasks(tx, ids)
}

// setTasks replaces the tasks of an event. The tasks close at its end, and hidden ones open at its start. If the event
// had ended before the change, its tasks keep their deadlines, because they may have been reopened since.
func (e *Event) setTasks(tx *gorm.DB, actor accounts.User, slugs []string, schedule bool) error {
	if err := e.cancelTaskOpenings(tx); err != nil {
		return err
	}
	if err := tx.Where("event_id = ?", e.ID).Delete(&EventTask{}).Error; err != nil {
		return db.WriteError(err, "tasks of event %s", e.Slug)
	}
	for i, slug := range slugs {
		if slices.Contains(slugs[:i], slug) {
			continue
		}
		var task catalog.Task
		if err := tx.Where("slug = ?", slug).Take(&task).Error; err != nil {
			return db.ReadError(err, "task %q", slug)
		}
		if !task.EditableBy(actor) {
			return db.Errorf(db.Forbidden, "Only the author of the task %s and admins may put it into an event.", slug)
		}
		if err := e.checkSingleEvent(tx, task); err != nil {
			return err
		}
		if schedule {
			if err := catalog.ScheduleTask(tx, actor, task, e.StartsAt, e.EndsAt); err != nil {
				return err
			}
		}
		if err := tx.Create(&EventTask{EventID: e.ID, TaskID: task.ID, Position: i}).Error; err != nil {
			return db.WriteError(err, "task %s of event %s", slug, e.Slug)
		}
	}
	return nil
}

// checkSingleEvent returns an error if the task belongs to another event that has not ended.
func (e *Event) checkSingleEvent(tx *gorm.DB, task catalog.Task) error {
	var other []Event
	err := tx.Where("id <> ? and ends_at > ? and id in (select event_id from event_tasks where task_id = ?)", e.ID, db.NormalizeTime(tx.NowFunc()), task.ID).
		Limit(1).Find(&other).Error
	if err != nil || len(other) == 0 {
		return db.ReadError(err, "events of task %s", task.Slug)
	}
	return db.Errorf(db.Conflict, "The task %s is in the event %s until %s UTC. A task can be in only one event at a time.", task.Title, other[0].Title, other[0].EndsAt.UTC().Format(utcFormat))
}
