package models

import (
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/budgets"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/storage"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// What the rooms below define is known here by the same names, so that callers import one package.
type (
	User       = accounts.User
	Role       = accounts.Role
	Identity   = accounts.Identity
	SignIn     = accounts.SignIn
	Session    = accounts.Session
	NewSession = accounts.NewSession
	Token      = accounts.Token
	Audit      = accounts.Audit
	SeenUser   = accounts.SeenUser
	Of         = accounts.Of

	Worker           = fleet.Worker
	WorkerCredential = fleet.WorkerCredential
	DeviceSlots      = fleet.DeviceSlots
	JoinToken        = fleet.JoinToken
	NewJoinToken     = fleet.NewJoinToken
	Pause            = fleet.Pause
	Budget           = budgets.Budget
	TeamBudget       = budgets.TeamBudget
	TeamChange       = budgets.TeamChange
	StorageUse       = storage.Use
	StorageTotal     = storage.Total
	StorageNext      = storage.Next

	Task         = catalog.Task
	TaskSettings = catalog.TaskSettings
	NewTask      = catalog.NewTask
	Posed        = catalog.Posed
	TaskVersion  = catalog.TaskVersion
	VersionFile  = catalog.VersionFile
	Blob         = catalog.Blob
	Change       = catalog.Change

	Board        = boards.Board
	BoardKey     = boards.Key
	BoardPage    = boards.Page
	BoardChange  = boards.Change
	BoardSummary = boards.Summary
	Entry        = boards.Entry
	Interval     = boards.Interval
	Standing     = boards.Standing
	Ranked       = boards.Ranked
	BoardHead    = boards.Head
	BoardPart    = boards.Part
	Shown        = boards.Shown
	Band         = boards.Band
	Best         = boards.Best
	Baseline     = boards.MeasuredBaseline
	Record       = boards.Record
	RecordHolder = boards.RecordHolder
	RecordFilter = boards.RecordFilter

	Submission        = submissions.Submission
	NewSubmission     = submissions.NewSubmission
	SubmissionFilter  = submissions.SubmissionFilter
	SubmissionSummary = submissions.SubmissionSummary
	Filed             = submissions.Filed
	Limits            = submissions.Limits

	Work             = work.Work
	Recorded         = work.Recorded
	QueuedWork       = work.QueuedWork
	QueuedSubmission = work.QueuedSubmission
	QueueLength      = work.QueueLength
	Waiting          = work.Waiting
	Activity         = work.Activity
	Attempt          = work.Attempt
	LiveAttempt      = work.LiveAttempt
	Score            = work.Score
	Findings         = work.Findings
	Loss             = work.Loss
	Run              = work.Run
	RunState         = work.RunState
	RunEvent         = work.RunEvent
	Stage            = work.Stage
	Artifact         = work.Artifact
	Evaluation       = work.Evaluation
	EvaluationState  = work.EvaluationState
	EvaluationStats  = work.EvaluationStats
	NewEvaluation    = work.NewEvaluation
	EvaluationLimits = work.EvaluationLimits
	Asker            = work.Asker

	Error   = db.Error
	Kind    = db.Kind
	Setting = db.Setting
)

// Roles of people.
const (
	RoleUser    = accounts.RoleUser
	RoleCreator = accounts.RoleCreator
	RoleAdmin   = accounts.RoleAdmin
)

// Who sees a task, and what publishing a bundle does to it.
const (
	Public        = catalog.Public
	Hidden        = catalog.Hidden
	ChangeNone    = catalog.ChangeNone
	ChangeTexts   = catalog.ChangeTexts
	ChangeVersion = catalog.ChangeVersion
)

// States of runs, in order; see work.RunState.
const (
	StateQueued       = work.StateQueued
	StateBuilding     = work.StateBuilding
	StateTesting      = work.StateTesting
	StateBenchmarking = work.StateBenchmarking
	StateRanking      = work.StateRanking
	StateProfiling    = work.StateProfiling
	StateDone         = work.StateDone
	StateFailed       = work.StateFailed
	StateCancelled    = work.StateCancelled
)

// States of evaluations, in order; see work.EvaluationState.
const (
	EvaluationSubmitted  = work.EvaluationSubmitted
	EvaluationCompiling  = work.EvaluationCompiling
	EvaluationValidating = work.EvaluationValidating
	EvaluationProfiling  = work.EvaluationProfiling
	EvaluationCompleted  = work.EvaluationCompleted
	EvaluationFailed     = work.EvaluationFailed
	EvaluationTimeout    = work.EvaluationTimeout
	EvaluationCancelled  = work.EvaluationCancelled
)

// WorkerTimeout is how long a worker may be silent before its attempts are given to another.
const WorkerTimeout = fleet.WorkerTimeout

// Kinds of errors.
const (
	NotFound    = db.NotFound
	Invalid     = db.Invalid
	Conflict    = db.Conflict
	Forbidden   = db.Forbidden
	TooMany     = db.TooMany
	Unavailable = db.Unavailable
	Internal    = db.Internal
)

// KindOf tells the kind of an error.
func KindOf(err error) Kind { return db.KindOf(err) }

// Errorf makes an Error of a kind.
func Errorf(kind Kind, format string, args ...any) *Error { return db.Errorf(kind, format, args...) }

// Slug makes a name fit for a URL: lower-case letters, digits and single dashes; empty when nothing is left.
func Slug(name string) string { return db.Slug(name) }

// Hash is the key of a content: its SHA-256 in hex. Submissions keep it as SourceHash.
func Hash(data []byte) string { return db.Hash(data) }

// CleanName removes what a name must not hold, and cuts it at 40 characters, with an ellipsis.
func CleanName(name string) string { return accounts.CleanName(name) }

// SlotsOf counts the slots of live workers by device, as far as which chooses them.
func SlotsOf(workers []Worker, at time.Time, which func(Worker, job.Slot) bool) map[string]DeviceSlots {
	return fleet.SlotsOf(workers, at, which)
}
