package models

import (
	"context"
	"slices"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/events"
)

// SeenEvent is an event as someone sees it.
type SeenEvent struct {
	events.Listed
	Tasks     []catalog.Task // that lists name to the person
	Standings events.Standings
}

// EventFor reads an event for a person: what is on the boards of a device, or of all where none is named.
func (s *Store) EventFor(ctx context.Context, viewer accounts.User, slug, device string) (seen SeenEvent, err error) {
	if seen.Listed, err = s.Events.Event(ctx, slug); err != nil {
		return seen, err
	}
	if seen.Tasks, err = s.Events.Tasks(ctx, seen.ID); err != nil {
		return seen, err
	}
	seen.Tasks = slices.DeleteFunc(seen.Tasks, func(t catalog.Task) bool { return !t.ListedTo(viewer) })
	seen.Standings, err = s.EventStandings(ctx, seen.Event, seen.Tasks, device)
	return seen, err
}

// EventStandings computes the standings of an event from the boards of these tasks as they are now; of one device, if it is
// named. The first device of a task comes first.
func (s *Store) EventStandings(ctx context.Context, e events.Event, tasks []catalog.Task, device string) (events.Standings, error) {
	rule, err := events.ParsePoints(e.Points)
	if err != nil {
		return events.Standings{}, err
	}
	entrants, err := s.entrants(ctx, e)
	if err != nil {
		return events.Standings{}, err
	}
	boards, versions := boardsOf(tasks, device)
	entries, err := s.Boards.Entries(ctx, versions)
	if err != nil {
		return events.Standings{}, err
	}
	places := make([]events.Place, len(entries))
	for i, st := range entries {
		places[i] = events.Place{VersionID: st.VersionID, Device: st.Device, Entrant: entrants.Of(st.UserID, st.UserName),
			UserID: st.UserID, RunID: st.RunID, Rank: st.Rank, ScoreNS: st.ScoreNS}
	}
	return events.NewStandings(boards, places, rule), nil
}

func boardsOf(tasks []catalog.Task, device string) (list []events.Board, versions []int64) {
	for _, task := range tasks {
		versions = append(versions, task.VersionID)
		for _, d := range task.Devices {
			if device == "" || d == device {
				list = append(list, events.Board{TaskID: task.ID, Slug: task.Slug, Title: task.Title, VersionID: task.VersionID, Device: d})
			}
		}
	}
	return list, versions
}

// entrants are the teams of an event that has them as entrants.
func (s *Store) entrants(ctx context.Context, e events.Event) (events.Entrants, error) {
	if !e.ByTeam {
		return nil, nil
	}
	members, err := s.Budgets.Memberships(ctx)
	teams := make(events.Entrants, len(members))
	for _, m := range members {
		teams[m.UserID] = events.Entrant{TeamID: m.TeamID, Name: m.Name}
	}
	return teams, err
}
