package job

import (
	"time"

	"warpboard/internal/requirement"
)

// EventType is the kind of an event.
type EventType string

const (
	EventAttemptStarted EventType = "taken" // a worker has begun the attempt
	EventStageStarted   EventType = "stage" // Stage has begun
	EventCaseEnded      EventType = "case"  // Case of Stage has ended
	EventLog            EventType = "log"   // a piece of the program's output (Stage, Stream, Text)
	EventStageEnded     EventType = "ended" // a stage ended (Stage, Result without Stdout and Stderr)
)

// Event reports progress of an attempt while it runs. Events are hints for viewers: the Result contains everything that
// must be kept.
type Event struct {
	RunID         int64        `json:"run_id"`
	AttemptID     string       `json:"attempt_id"`
	AttemptSecret string       `json:"secret"`
	Number        int          `json:"seq"` // number of the event within the attempt, from 1
	Time          time.Time    `json:"time"`
	Type          EventType    `json:"type"`
	Stage         Stage        `json:"stage,omitempty"`
	Worker        string       `json:"worker,omitempty"`
	Case          *CaseResult  `json:"case,omitempty"`
	CaseCount     int          `json:"total,omitempty"`  // EventStageStarted, EventCaseEnded: number of cases, if known
	Stream        string       `json:"stream,omitempty"` // EventLog: "stdout" or "stderr"
	Text          string       `json:"text,omitempty"`
	EndedStage    *StageResult `json:"ended,omitempty"`
	// EvaluationID is set if the attempt belongs to an evaluation. Stage is then a stage of package kernelrun.
	EvaluationID string `json:"evaluation_id,omitempty"`
}

// Heartbeat is the state that a worker reports every few seconds.
type Heartbeat struct {
	Worker          string           `json:"worker"`
	Time            time.Time        `json:"time"`
	WorkerStartedAt time.Time        `json:"started"`
	WorkerVersion   string           `json:"version"`
	Slots           []Slot           `json:"slots"`
	Attempts        []string         `json:"attempts"` // IDs of the attempts in progress
	SelfTestResults []SelfTestResult `json:"self_test,omitempty"`
	// NoJobsReason is the reason why the worker does not accept jobs; empty if it does.
	NoJobsReason string `json:"refusing,omitempty"`
	IsStopping   bool   `json:"stopping,omitempty"` // last heartbeat of a worker that exits normally
	// Packages lists the packages of the Python that runs jobs. nil: as in the last heartbeat that the site has stored
	Packages requirement.Packages `json:"packages,omitzero"`
}

// Slot is the state of one slot of a worker.
type Slot struct {
	Index       int     `json:"index"`
	Device      string  `json:"device"`
	Machine     Machine `json:"machine"`
	MemoryBytes uint64  `json:"memory"` // memory of the GPU or the machine, in bytes
	Arch        string  `json:"arch"`   // "90" for compute capability 9.0; empty for CPU
	AttemptID   string  `json:"attempt,omitempty"`
	// DisabledReason is the reason why the slot does not accept jobs. It is for admins, because it may contain program
	// output.
	DisabledReason string `json:"disabled,omitempty"`
	PublicReason   string `json:"public,omitempty"`   // reason without program output, for everyone
	CanProfile     bool   `json:"profiler,omitempty"` // Nsight Compute can profile runs on it
	// CanSanitize means that compute-sanitizer can check runs on it.
	CanSanitize bool `json:"sanitizer,omitempty"`
}

// SelfTestResult is the result of one self-test.
type SelfTestResult struct {
	Name   string `json:"name"`
	Passed bool   `json:"ok"`
	Detail string `json:"detail"`
}
