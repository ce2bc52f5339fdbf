package client

import "time"

// Leaderboard ranks people over the public tasks, by points.
type Leaderboard struct {
	Device string   `json:"device,omitempty" jsonschema:"a device, or a family of devices; absent: all"`
	From   string   `json:"from,omitempty" jsonschema:"first day of the season; absent: open"`
	To     string   `json:"to,omitempty" jsonschema:"last day of the season; absent: open"`
	Total  int      `json:"total" jsonschema:"people with points"`
	Page   int      `json:"page"`
	People []Ranked `json:"people"`
}

// Ranked is a person with points.
type Ranked struct {
	Rank        int        `json:"rank"`
	Tied        bool       `json:"tied,omitempty" jsonschema:"others have the same points and medals, and so the rank"`
	User        User       `json:"user"`
	Points      int        `json:"points" jsonschema:"of the ten best tasks"`
	Tasks       int        `json:"tasks" jsonschema:"tasks with points"`
	Gold        int        `json:"gold" jsonschema:"boards with rank 1"`
	Silver      int        `json:"silver" jsonschema:"boards with rank 2"`
	Bronze      int        `json:"bronze" jsonschema:"boards with rank 3"`
	Records     int        `json:"records" jsonschema:"boards with this person's score as the best"`
	RecordSince *time.Time `json:"record_since,omitempty" jsonschema:"since when the person holds the oldest of these records"`
	Submissions int        `json:"submissions_30_days" jsonschema:"submissions to public tasks in the last 30 days"`
}
