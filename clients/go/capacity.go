package client

// Capacity has the slots and the demand of one kind of device, for programs that start machines.
type Capacity struct {
	Device        string  `json:"device"`
	Waiting       int     `json:"waiting" jsonschema:"runs, evaluations and profiles of people that no worker has begun"`
	OldestSeconds float64 `json:"oldest_seconds" jsonschema:"how long the oldest of them waits; 0: none does"`
	Slots         int     `json:"slots" jsonschema:"that take jobs now"`
	Busy          int     `json:"busy"`
	OutOfService  int     `json:"out_of_service" jsonschema:"slots of live workers that take no jobs"`
	WantedSlots   int     `json:"wanted_slots" jsonschema:"with which everything would run at once; of a paused device what runs already"`
}
