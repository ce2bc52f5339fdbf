package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// EventSummary is an event: several tasks with a common start and end. Unlike Event, it is not a step of a run.
type EventSummary struct {
	Slug       string     `json:"slug"`
	Title      string     `json:"title"`
	URL        string     `json:"url"`
	Organizer  User       `json:"organizer"`
	StartsAt   time.Time  `json:"starts_at"`
	EndsAt     time.Time  `json:"ends_at" jsonschema:"a submission at this time is too late"`
	FrozenAt   *time.Time `json:"frozen_at,omitempty" jsonschema:"results of later submissions are hidden until they are revealed; absent: never"`
	RevealedAt *time.Time `json:"revealed_at,omitempty" jsonschema:"when the last frozen result was revealed; absent: not yet"`
	Points     string     `json:"points" jsonschema:"points by place like 5/3/1, a formula like 100/place, or ratio"`
	ByTeam     bool       `json:"by_team" jsonschema:"teams are the entrants; a person without a team stands alone"`
}

// EventStandings is an event with its standings, for the tasks that the caller may see.
type EventStandings struct {
	EventSummary
	About     string       `json:"about" jsonschema:"Markdown"`
	Now       time.Time    `json:"now" jsonschema:"the server's clock, which decides"`
	Frozen    bool         `json:"frozen" jsonschema:"results are hidden now"`
	Boards    []EventBoard `json:"boards"`
	Total     int          `json:"total" jsonschema:"entrants"`
	Page      int          `json:"page" jsonschema:"of the standings, 200 entrants each"`
	Standings []EventRow   `json:"standings"`
}

// EventBoard is a board of an event.
type EventBoard struct {
	Task   string  `json:"task"`
	Title  string  `json:"title"`
	Device string  `json:"device"`
	BestNS float64 `json:"best_ns" jsonschema:"0: no one is on it"`
}

// EventRow is an entrant in the standings.
type EventRow struct {
	Rank    int           `json:"rank" jsonschema:"entrants with equal points share it; 0: no points yet"`
	Name    string        `json:"name"`
	UserID  int64         `json:"user_id,omitempty" jsonschema:"absent: a team"`
	TeamID  int64         `json:"team_id,omitempty" jsonschema:"absent: a person"`
	Points  float64       `json:"points" jsonschema:"of all boards"`
	Results []EventResult `json:"results" jsonschema:"one per board that the entrant is on"`
}

// EventResult is an entrant's result on one board.
type EventResult struct {
	Task    string  `json:"task"`
	Device  string  `json:"device"`
	Place   int     `json:"place" jsonschema:"among the entrants; ties share it"`
	ScoreNS float64 `json:"score_ns"`
	Points  float64 `json:"points"`
	UserID  int64   `json:"user_id" jsonschema:"whose score it is"`
	RunID   int64   `json:"run_id"`
}

// Events returns the events of the site, latest end first.
func (c *Client) Events(ctx context.Context) ([]EventSummary, error) {
	answer, err := sendJSON[struct {
		Events []EventSummary `json:"events"`
	}](ctx, c, http.MethodGet, "/events", nil)
	if err != nil {
		return nil, err
	}
	return answer.Events, nil
}

// EventStandings returns an event with all pages of its standings. If the standings change between two requests, an
// entrant can be on two pages or on none.
func (c *Client) EventStandings(ctx context.Context, slug string) (*EventStandings, error) {
	var all *EventStandings
	for page := 1; ; page++ {
		part, err := sendJSON[EventStandings](ctx, c, http.MethodGet, fmt.Sprintf("/events/%s?page=%d", url.PathEscape(slug), page), nil)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = part
		} else {
			all.Standings = append(all.Standings, part.Standings...)
		}
		if len(part.Standings) == 0 || len(all.Standings) >= part.Total {
			return all, nil
		}
	}
}
