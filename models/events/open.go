package events

import (
	"context"
	"slices"
	"time"

	"warpboard/models/db"
)

// announcedBeforeStart is the time before an event's start from which every page announces it.
const announcedBeforeStart = 7 * 24 * time.Hour

// unfinishedEvent is an event that has not ended or whose results are not all revealed, with its tasks.
type unfinishedEvent struct {
	Event
	tasks []int64
}

// AnnouncedEvent returns the event that pages announce: the running event that ends first, or else the next one to
// start.
func (s *Events) AnnouncedEvent() (found Event, ok bool) {
	at := s.Now()
	for _, e := range s.openEventList() {
		if e.HasEnded(at) || e.StartsAt.Sub(at) > announcedBeforeStart {
			continue
		}
		if !ok || e.HasBegun(at) && (!found.HasBegun(at) || e.EndsAt.Before(found.EndsAt)) {
			found, ok = e.Event, true
		}
	}
	return found, ok
}

// FrozenEventOfTask returns the event for which the boards of a task are frozen now.
func (s *Events) FrozenEventOfTask(taskID int64) (found Event, frozen bool) {
	at := s.Now()
	for _, e := range s.openEventList() {
		if e.IsFrozen(at) && slices.Contains(e.tasks, taskID) {
			return e.Event, true
		}
	}
	return found, false
}

// EventOfTask returns the event that a task belongs to, until the event ends.
func (s *Events) EventOfTask(taskID int64) (found Event, ok bool) {
	at := s.Now()
	for _, e := range s.openEventList() {
		if !e.HasEnded(at) && slices.Contains(e.tasks, taskID) {
			return e.Event, true
		}
	}
	return found, false
}

func (s *Events) openEventList() []unfinishedEvent {
	if list := s.openEvents.Load(); list != nil {
		return *list
	}
	return nil
}

// ReadOpenEvents reads the open events into memory. It is called at the start, after each change by this process, and
// periodically for changes by other processes.
func (s *Events) ReadOpenEvents(ctx context.Context) error {
	var list []unfinishedEvent
	err := s.db.Read(ctx).Table("events").Select("id, slug, title, starts_at, ends_at, frozen_at, revealed_at").
		Where("ends_at > ? or frozen_at is not null and revealed_at is null", s.Now()).Order("starts_at, id").Limit(maxEvents).Scan(&list).Error
	if err != nil {
		return db.ReadError(err, "open events")
	}
	for i, e := range list {
		err := s.db.Read(ctx).Model(&EventTask{}).Where("event_id = ?", e.ID).Pluck("task_id", &list[i].tasks).Error
		if err != nil {
			return db.ReadError(err, "tasks of event %d", e.ID)
		}
	}
	s.openEvents.Store(&list)
	return nil
}

// reload reads the open events again if err is nil.
func (s *Events) reload(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return s.ReadOpenEvents(ctx)
}
