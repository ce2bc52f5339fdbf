package client

import (
	"context"
	"net/http"
	"net/url"
)

// Suite compares entrants with the baselines of several boards on one device.
type Suite struct {
	Name      string       `json:"name" jsonschema:"a tag, or an event's name"`
	URL       string       `json:"url"`
	Device    string       `json:"device"`
	Devices   []string     `json:"devices" jsonschema:"those of the tasks"`
	Baseline  string       `json:"baseline" jsonschema:"name of the baselines; empty: no board has one"`
	Baselines []string     `json:"baselines" jsonschema:"to choose from"`
	Boards    []SuiteBoard `json:"boards"`
	Total     int          `json:"total" jsonschema:"entrants"`
	Page      int          `json:"page" jsonschema:"of the entrants, up to 200 each; the header Link has the next"`
	Entrants  []SuiteRow   `json:"entrants" jsonschema:"ordered by fast_1"`
}

// SuiteBoard is a board of a suite.
type SuiteBoard struct {
	Task       string  `json:"task"`
	Title      string  `json:"title"`
	BaselineNS float64 `json:"baseline_ns" jsonschema:"0: it has no such baseline, and counts in no fast_p"`
}

// SuiteRow is an entrant of a suite.
type SuiteRow struct {
	Name         string        `json:"name"`
	UserID       int64         `json:"user_id,omitempty" jsonschema:"absent: a team"`
	TeamID       int64         `json:"team_id,omitempty" jsonschema:"absent: a person"`
	CorrectShare float64       `json:"correct" jsonschema:"share of all tasks with a valid ranked run"`
	Geomean      float64       `json:"geomean" jsonschema:"geometric mean of the speedups; 0: none"`
	FastPPoints  []FastP       `json:"fast_p"`
	Results      []SuiteResult `json:"results" jsonschema:"one per board that the entrant is on"`
}

// FastP is a point of a fast_p curve.
type FastP struct {
	Speedup   float64 `json:"p"`
	TaskShare float64 `json:"share" jsonschema:"of the tasks with a baseline: correct and at least p times as fast"`
}

// SuiteResult is an entrant's result on one board of a suite.
type SuiteResult struct {
	Task    string  `json:"task"`
	ScoreNS float64 `json:"score_ns"`
	Speedup float64 `json:"speedup" jsonschema:"the baseline's time by score_ns; 0: no baseline"`
	RunID   int64   `json:"run_id"`
}

// TagSuite returns the suite of all tasks with a tag. device "" selects the device with the most tasks.
func (c *Client) TagSuite(ctx context.Context, tag, device string) (*Suite, error) {
	return sendJSON[Suite](ctx, c, http.MethodGet, "/tags/"+url.PathEscape(tag)+"/suite?device="+url.QueryEscape(device), nil)
}
