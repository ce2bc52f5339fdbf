package client

// Capacity has the number of slots that a device has and the number that its work needs, for programs that start
// machines.
type Capacity struct {
	Device            string  `json:"device"`
	Waiting           int     `json:"waiting" jsonschema:"runs, evaluations and profiles of people that no worker has begun"`
	OldestWaitSeconds float64 `json:"oldest_seconds" jsonschema:"how long the oldest of them has waited; 0: nothing waits"`
	Slots             int     `json:"slots" jsonschema:"that take jobs now"`
	Busy              int     `json:"busy"`
	OutOfService      int     `json:"out_of_service" jsonschema:"slots of live workers that take no jobs"`
	WantedSlots       int     `json:"wanted_slots" jsonschema:"slots needed to run everything at once; for a paused device, the slots in use"`
}
