package models

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/events"
)

// SuiteQuery selects the boards and baselines of a suite.
type SuiteQuery struct {
	Device       string // empty for the one with the most tasks
	BaselineName string // name; empty for the one that most boards have
}

// SuiteOfTag returns the suite of the tasks with a tag that the viewer may see. It returns NotFound for a tag without
// tasks.
func (s *Store) SuiteOfTag(
	ctx context.Context, viewer accounts.User, tag string, view SuiteQuery,
) (events.Suite, error) {
	list, err := s.TaskList(ctx, viewer)
	if err != nil {
		return events.Suite{}, err
	}
	var tasks []catalog.Task
	for _, t := range list {
		if slices.Contains(t.Tags, tag) {
			tasks = append(tasks, t.Task)
		}
	}
	if len(tasks) == 0 {
		return events.Suite{}, db.Errorf(db.NotFound, "There are no tasks with the tag %q.", tag)
	}
	slices.SortFunc(tasks, func(a, b catalog.Task) int { return cmp.Compare(a.ID, b.ID) })
	return s.computeSuite(ctx, events.Event{PointsRuleText: events.ScoreRatioRule}, tasks, view)
}

// SuiteOfEvent returns the suite of an event's tasks that the viewer may see.
func (s *Store) SuiteOfEvent(
	ctx context.Context, viewer accounts.User, slug string, view SuiteQuery,
) (e events.EventRow, suite events.Suite, err error) {
	if e, err = s.Events.Event(ctx, slug); err != nil {
		return e, suite, err
	}
	tasks, err := s.Events.Tasks(ctx, e.ID)
	if err != nil {
		return e, suite, err
	}
	tasks = slices.DeleteFunc(tasks, func(t catalog.Task) bool { return !t.ListedTo(viewer) })
	suite, err = s.computeSuite(ctx, e.Event, tasks, view)
	return e, suite, err
}

func (s *Store) computeSuite(
	ctx context.Context, e events.Event, tasks []catalog.Task, view SuiteQuery,
) (events.Suite, error) {
	if err := s.suitePermits.Acquire(ctx, 1); err != nil {
		return events.Suite{}, err
	}
	defer s.suitePermits.Release(1)
	devices := map[string]int{}
	for _, task := range tasks {
		for _, device := range task.Devices {
			devices[device]++
		}
	}
	chosen := cmp.Or(view.Device, mostFrequentKey(devices))
	if chosen != "" && devices[chosen] == 0 {
		return events.Suite{}, db.Errorf(db.NotFound, "None of these tasks has a board of %q.", chosen)
	}
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(t catalog.Task) bool { return !slices.Contains(t.Devices, chosen) })
	st, err := s.EventStandings(ctx, e, tasks, chosen, time.Time{})
	if err != nil {
		return events.Suite{}, err
	}
	versions := make([]int64, len(st.Boards))
	for i, b := range st.Boards {
		versions[i] = b.VersionID
	}
	measured, err := s.Boards.Baselines(ctx, versions, chosen)
	if err != nil {
		return events.Suite{}, err
	}
	names, at := map[string]int{}, map[int64]map[string]float64{}
	for _, b := range measured {
		names[b.Name]++
		if at[b.VersionID] == nil {
			at[b.VersionID] = map[string]float64{}
		}
		at[b.VersionID][b.Name] = b.ScoreNS
	}
	baseline := cmp.Or(view.BaselineName, mostFrequentKey(names))
	times := make([]float64, len(st.Boards))
	for i, b := range st.Boards {
		times[i] = at[b.VersionID][baseline]
	}
	suite := events.NewSuite(st, times)
	suite.Device, suite.Devices = chosen, slices.Sorted(maps.Keys(devices))
	suite.BaselineName, suite.BaselineNames = baseline, slices.Sorted(maps.Keys(names))
	return suite, nil
}

// mostFrequentKey returns the key with the largest count; of several, the first in alphabetical order; "" for an empty
// map.
func mostFrequentKey(counts map[string]int) (best string) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if best == "" || counts[name] > counts[best] {
			best = name
		}
	}
	return best
}
