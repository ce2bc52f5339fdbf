package models

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/events"
)

// CloneEvent creates an event with the settings of another event and copies of its tasks, which stay hidden until the
// start. The copies have no submissions, boards, or members. The new event has the same duration.
func (s *Store) CloneEvent(
	ctx context.Context, actor accounts.User, slug, title string, startsAt time.Time,
) (made events.Event, err error) {
	from, err := s.Events.Event(ctx, slug)
	if err != nil {
		return made, err
	}
	if err := actor.CheckPermission(accounts.EditEvent, accounts.OwnerIDs{AuthorID: from.OwnerID}); err != nil {
		return made, err
	}
	if _, err := s.Events.Event(ctx, db.Slug(title)); err == nil {
		return made, db.Errorf(db.Conflict, "There is an event at /events/%s already: choose another title.", db.Slug(title))
	}
	list, err := s.Events.Tasks(ctx, from.ID)
	if err != nil {
		return made, err
	}
	in := events.EventSettings{Title: title, Description: from.Description, StartsAt: startsAt, EndsAt: startsAt.Add(from.EndsAt.Sub(from.StartsAt)),
		PointsRuleText: from.PointsRuleText, EntrantsAreTeams: from.EntrantsAreTeams, CommentsClosed: from.CommentsClosed}
	if from.FrozenAt != nil {
		frozen := startsAt.Add(from.FrozenAt.Sub(from.StartsAt))
		in.FrozenAt = &frozen
	}
	if startsAt.Before(s.Events.Now()) {
		return made, db.Errorf(db.Invalid, "The start, %s UTC, has passed.", startsAt.UTC().Format(time.DateTime))
	}
	var copies []catalog.Task
	for _, task := range list {
		one, err := s.copyTask(ctx, actor, task)
		if err != nil {
			return made, errors.Join(err, s.deleteTaskCopies(ctx, actor, copies))
		}
		copies, in.Tasks = append(copies, one), append(in.Tasks, one.Slug)
	}
	if made, err = s.Events.Create(ctx, actor, in); err != nil {
		return made, errors.Join(err, s.deleteTaskCopies(ctx, actor, copies))
	}
	return made, nil
}

// maxTriedCopySlugs limits the slugs that are tried for a copy: name-2, name-3, …
const maxTriedCopySlugs = 100

// copyTask creates a hidden task from the current version of another one, with the next free slug.
func (s *Store) copyTask(ctx context.Context, actor accounts.User, task catalog.Task) (catalog.Task, error) {
	if !task.EditableBy(actor) {
		return task, db.Errorf(db.Forbidden, "Only the author of the task %s and admins may copy it.", task.Slug)
	}
	bundle, err := s.Catalog.CurrentBundle(ctx, task)
	if err != nil {
		return task, err
	}
	settings := task.Settings()
	settings.Deadline, settings.Visibility = nil, catalog.Hidden
	for n := 2; n < maxTriedCopySlugs; n++ {
		made, err := s.Catalog.CreateTask(ctx, actor, catalog.NewTask{
			Slug:         task.Slug + "-" + strconv.Itoa(n),
			TaskSettings: settings,
			Bundle:       bundle,
		})
		if db.KindOf(err) != db.Conflict {
			return made, err
		}
	}
	return task, db.Errorf(db.Conflict, "The task %s has %d copies already.", task.Slug, maxTriedCopySlugs-2)
}

// deleteTaskCopies deletes the copied tasks of an event that could not be created.
func (s *Store) deleteTaskCopies(ctx context.Context, actor accounts.User, copies []catalog.Task) error {
	for _, task := range copies {
		if err := s.Catalog.DeleteTask(ctx, actor, task.ID, task.Slug); err != nil {
			return fmt.Errorf("removing the copy %s: %w", task.Slug, err)
		}
	}
	return nil
}
