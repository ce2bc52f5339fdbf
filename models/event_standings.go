package models

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/events"
)

// VisibleEvent is an event with the parts that a viewer may see.
type VisibleEvent struct {
	events.EventRow
	Tasks       []catalog.Task // tasks that lists show to the person
	StandingsAt time.Time      // time of the standings; zero for now
	Standings   events.Standings
}

// EventForViewer reads an event for a viewer, with the entries on the boards of one device, or of all if device is
// empty. at selects an earlier time (see events.Event.RoundToMinute); the zero time means now.
func (s *Store) EventForViewer(
	ctx context.Context, viewer accounts.User, slug, device string, at time.Time,
) (seen VisibleEvent, err error) {
	if seen.EventRow, err = s.Events.Event(ctx, slug); err != nil {
		return seen, err
	}
	if seen.Tasks, err = s.Events.Tasks(ctx, seen.ID); err != nil {
		return seen, err
	}
	seen.Tasks = slices.DeleteFunc(seen.Tasks, func(t catalog.Task) bool { return !t.ListedTo(viewer) })
	if !at.IsZero() {
		seen.StandingsAt = seen.RoundToMinute(at, s.Events.Now())
	}
	seen.Standings, err = s.EventStandings(ctx, seen.Event, seen.Tasks, device, seen.StandingsAt)
	return seen, err
}

// EventStandings returns the standings of an event from the current boards of its tasks, of one device if it is named.
// If a task has several devices, the first counts. at selects an earlier time, without ties; one such request is
// computed at a time. Callers share the result and must not modify it.
func (s *Store) EventStandings(
	ctx context.Context, e events.Event, tasks []catalog.Task, device string, at time.Time,
) (events.Standings, error) {
	rule, err := events.ParsePointsRule(e.PointsRuleText)
	if err != nil {
		return events.Standings{}, err
	}
	entrants, err := s.readEntrants(ctx, e)
	if err != nil {
		return events.Standings{}, err
	}
	list, versions := eventBoardsOf(tasks, device)
	changes, err := s.Boards.ChangeNumbers(ctx, versions)
	if err != nil {
		return events.Standings{}, err
	}
	key, err := standingsKey(e.PointsRuleText, at, entrants, list, changes)
	if err != nil {
		return events.Standings{}, err
	}
	kept := s.standingsCache
	if !at.IsZero() {
		kept = s.pastStandingsCache
	}
	if st, ok := kept.Get(key); ok {
		return st, nil
	}
	if !at.IsZero() {
		if err := s.pastStandingsPermits.Acquire(ctx, 1); err != nil {
			return events.Standings{}, err
		}
		defer s.pastStandingsPermits.Release(1)
		if st, ok := kept.Get(key); ok { // another request computed them in the meantime
			return st, nil
		}
	}
	// Omit boards on devices that the tasks no longer list.
	maps.DeleteFunc(changes, func(key boards.BoardKey, _ int64) bool {
		return !slices.ContainsFunc(list, func(b events.EventBoard) bool { return boardKeyOf(b) == key })
	})
	placed, err := s.Boards.PlaceSummaries(ctx, changes, at)
	if err != nil {
		return events.Standings{}, err
	}
	each := make([][]events.RankedPersonEntry, len(list))
	for i, b := range list {
		for _, p := range placed[boardKeyOf(b)] {
			each[i] = append(each[i], events.RankedPersonEntry{
				Entrant: entrants.EntrantOf(p.UserID, p.UserName),
				UserID:  p.UserID,
				RunID:   p.RunID,
				Rank:    p.Rank,
				ScoreNS: p.ScoreNS,
			})
		}
	}
	st := events.NewStandings(list, each, rule)
	kept.Put(key, st, int64(1000+len(st.Rows)*(100+50*len(list))))
	return st, nil
}

func boardKeyOf(b events.EventBoard) boards.BoardKey {
	return boards.BoardKey{VersionID: b.VersionID, Device: b.Device}
}

// maxStandingsBytes is the approximate limit of a process's cache of standings, in bytes.
const maxStandingsBytes = 32 << 20

// maxPastStandingsBytes is the limit of the cache for standings at earlier times, in bytes.
const maxPastStandingsBytes = 8 << 20

// standingsKey returns a hash of everything that standings depend on, including the change numbers of boards, which
// every visible change raises.
func standingsKey(
	points string, moment time.Time, entrants events.Entrants, list []events.EventBoard, changes map[boards.BoardKey]int64,
) (sum [sha256.Size]byte, err error) {
	at := make([]int64, len(list))
	for i, b := range list {
		at[i] = changes[boardKeyOf(b)]
	}
	text, err := json.Marshal([]any{points, moment, entrants, list, at})
	return sha256.Sum256(text), err
}

func eventBoardsOf(tasks []catalog.Task, device string) (list []events.EventBoard, versions []int64) {
	for _, task := range tasks {
		versions = append(versions, task.VersionID)
		for _, d := range task.Devices {
			if device == "" || d == device {
				list = append(list, events.EventBoard{
					TaskID:    task.ID,
					Slug:      task.Slug,
					Title:     task.Title,
					VersionID: task.VersionID,
					Device:    d,
				})
			}
		}
	}
	return list, versions
}

// readEntrants returns the teams of an event if its entrants are teams.
func (s *Store) readEntrants(ctx context.Context, e events.Event) (events.Entrants, error) {
	if !e.EntrantsAreTeams {
		return nil, nil
	}
	members, err := s.Quotas.Memberships(ctx)
	teams := make(events.Entrants, len(members))
	for _, m := range members {
		teams[m.UserID] = events.Entrant{TeamID: m.TeamID, Name: m.Name}
	}
	return teams, err
}
