package client

// Outcome is the effect of a ranked run on its board. Its fields have the order of the site's own type.
type Outcome struct {
	Rank               int   `json:"rank,omitempty" jsonschema:"of the person on the board; absent: their entry was measured with older software"`
	Tied               bool  `json:"tied,omitempty" jsonschema:"others share that rank"`
	TiedWithCount      int64 `json:"tied_with,omitempty" jsonschema:"how many others share that rank"`
	PeopleOnBoard      int64 `json:"people,omitempty" jsonschema:"on the board"`
	IsEntry            bool  `json:"entry,omitempty" jsonschema:"the run is the person's entry: none of their runs is faster"`
	IsPersonsFirst     bool  `json:"first,omitempty" jsonschema:"it is the person's first ranked run there"`
	IsRecord           bool  `json:"record,omitempty" jsonschema:"it was the fastest on the board when it ended, and is the person's entry"`
	Unconfirmed        bool  `json:"unconfirmed,omitempty" jsonschema:"a record that may be luck: the run was disturbed or noisy and has not been confirmed, or it waits to be measured again"`
	AwaitsConfirmation bool  `json:"confirming,omitempty" jsonschema:"it waits to be measured again"`
	LeadingRun         int64 `json:"first_run,omitempty" jsonschema:"run that leads the board"`

	BestRun         int64   `json:"best_run,omitempty" jsonschema:"the person's best run before this one, or the entry if this run is not; absent: there is none"`
	BestSubmission  int64   `json:"best_submission,omitempty"`
	BestNS          float64 `json:"best_score_ns,omitempty"`
	BestRank        int     `json:"best_rank,omitempty" jsonschema:"that it has, or would have now"`
	BestTied        bool    `json:"best_tied,omitempty"`
	BestWithinNoise bool    `json:"best_unclear,omitempty" jsonschema:"no clear difference: the 95 % intervals of the two scores touch, or they differ by at most 0.5 %"`

	NextRun         int64   `json:"next_run,omitempty" jsonschema:"the entry ahead in rank, or at rank 1 the entry behind; absent: there is none, or you may not see it"`
	NextSubmission  int64   `json:"next_submission,omitempty"`
	NextUser        string  `json:"next_user,omitempty"`
	NextNS          float64 `json:"next_score_ns,omitempty"`
	NextRank        int     `json:"next_rank,omitempty"`
	NextTied        bool    `json:"next_tied,omitempty"`
	NextWithinNoise bool    `json:"next_unclear,omitempty" jsonschema:"no clear difference, as best_unclear"`
	NextRankReason  string  `json:"next_why,omitempty" jsonschema:"why the two have different ranks although next_unclear: wide (of a wide interval, only a part counts for a tie), first (the slower one is clearly slower than that first), between (it shares the rank of an entry that is)"`

	RooflineShare *float64 `json:"roof,omitempty" jsonschema:"how near the score is to the best that the device can do, up to 1; absent: unknown"`
}
