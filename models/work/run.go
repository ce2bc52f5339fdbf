package work

import (
	"context"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
)

// RunState is the state of a run.
type RunState string

// States, in order. The last three are final.
const (
	StateQueued                  RunState = "queued"
	StateBuilding                RunState = "building"
	StateTesting                 RunState = "testing"
	StateBenchmarking            RunState = "benchmarking"
	StateRanking                 RunState = "ranking"
	StateProfiling               RunState = "profiling"
	StateSanitizing              RunState = "sanitizing"
	StateRunningValidationScript RunState = "validating"
	StateDone                    RunState = "done"
	StateFailed                  RunState = "failed"
	StateCancelled               RunState = "cancelled"
)

// IsFinal reports whether the run has ended.
func (s RunState) IsFinal() bool {
	return s == StateDone || s == StateFailed || s == StateCancelled
}

// ModeBaseline is the mode of the site's run of a baseline. It is measured like a ranked run, after other work. It does
// not count for limits and is not an entry.
const ModeBaseline job.Mode = "baseline"

// ModePractice is the mode of a ranked run that was submitted after the task's deadline. It is measured like a ranked
// run but is not an entry.
const ModePractice job.Mode = "practice"

// WorkerMode returns the mode that workers use for a run: ranked for baselines and practice, otherwise mode.
func WorkerMode(mode job.Mode) job.Mode {
	if mode == ModeBaseline || mode == ModePractice {
		return job.ModeRanked
	}
	return mode
}

// Run is a submission on one device. Measured times are in nanoseconds.
type Run struct {
	ID           int64
	SubmissionID int64
	VersionID    int64
	UserID       int64
	Mode         job.Mode
	Purpose      Purpose
	// ID of the ranked run that it follows; nil for PurposeSubmitted, PurposePractice, and PurposeBaseline
	ProfileOf *int64

	OrderID *int64 // for PurposeConfirm and PurposeRerun: ID of the models.RerunOrder
	// IsOverdueTurn means that a turn of a confirmation has waited long and is now queued like people's runs.
	IsOverdueTurn bool `gorm:"column:overdue"`
	// CancelledByStaff means that someone other than its person cancelled the run, so the person gained nothing by it.
	CancelledByStaff bool `gorm:"column:stopped_by_staff"`

	InfrastructureError bool `gorm:"column:ours"` // failed because of an infrastructure error

	State RunState
	Work
	Failure *job.Failure `gorm:"serializer:json"` // reason why it failed, or why its last attempt was lost
	ScoreNS *float64     `gorm:"column:score_ns"` // ranked score, smaller is better
	// ScoredAt is the time since which the run has this score: its end, or the end of the newest run with equal source.
	ScoredAt        *time.Time
	DeviationNS     float64 `gorm:"column:std_ns"` // sample standard deviation of the score's repeats
	StandardErrorNS float64 `gorm:"column:err_ns"` // standard error of the score
	// ClockName is the clock of the score: "event" or "event+wall"; empty if no judge measured the time.
	ClockName string `gorm:"column:clock"`
	boards.Interval
	ScoreBeforeConfirmNS *float64 `gorm:"column:was_ns"` // score before confirmations; nil if the score comes from none
	// RooflineShare is the share of the device's limit that the score reaches; nil if unknown.
	RooflineShare *float64 `gorm:"column:roof"`
	boards.NumericalErrors
	// PeakMemoryBytes is the peak memory of the ranked stage; nil if it was not measured.
	PeakMemoryBytes *int64 `gorm:"column:memory_peak"`
	// DisturbedReason is the reason for bad conditions; empty if there were none, or they are unknown.
	DisturbedReason string `gorm:"column:disturbed"`
	HeldReason      string `gorm:"column:held_why"` // reason for a review before it counts; empty if it counts
	// ContradictedByProfile means that the profile contradicts the times (job.ProfileContradiction), and no reviewer
	// has decided yet.
	ContradictedByProfile bool `gorm:"column:contradicted"`
	// RepresentativeRunID is the run that represents all runs with the same source on the board, possibly this one; nil
	// if no other run has the same source.
	RepresentativeRunID *int64 `gorm:"column:pool_id"`
	// PooledRunCount is the number of runs from whose samples the score was computed; 0 if there is only this one, or
	// if the samples are turns of confirmations.
	PooledRunCount int `gorm:"column:pooled"`
	Harness        string
	EpochID        int64        // epoch (software) with which it was measured; 0 if not recorded
	Machine        *job.Machine `gorm:"serializer:json"`
	WallNS         int64        `gorm:"column:wall_ns"`
	ProgramNS      int64        `gorm:"column:program_ns"`

	Note string // its person's note on a run that is or was a record; plain text

	DisqualifiedAt     *time.Time
	DisqualifiedReason string `gorm:"column:disqualified_why"`
	DisqualifiedBy     int64  // person who decided it; 0 for the site
	ReinstatedReason   string `gorm:"column:reinstated_why"` // reason for making a disqualified run count again
}

// PublicFailure returns the reason for a failure, without parts that only people who may read the source can see.
func (r Run) PublicFailure() string {
	if r.Harness == harness.BundleHarness { // the task's own program can read the source, so its output may quote it
		return r.Failure.KindSentence()
	}
	return r.Failure.PublicReason()
}

// Valid reports whether the run may be on a board. Package boards has the same condition in SQL.
func (r Run) Valid() bool {
	return r.Mode == job.ModeRanked && r.State == StateDone && r.ScoreNS != nil && r.DisqualifiedAt == nil && r.Purpose == PurposeSubmitted && r.HeldReason == ""
}

// MayBeEntry reports whether the run may be an entry: it is valid, and no other run represents its source.
func (r Run) MayBeEntry() bool {
	return r.Valid() && (r.RepresentativeRunID == nil || *r.RepresentativeRunID == r.ID)
}

// BoardEntry returns a valid run as a board entry.
func (r Run) BoardEntry() boards.Entry {
	return boards.Entry{
		VersionID: r.VersionID, Device: r.Device, UserID: r.UserID, RunID: r.ID, SubmissionID: r.SubmissionID, EpochSortKey: -r.EpochID,
		ScoreNS: *r.ScoreNS, DeviationNS: r.DeviationNS, StandardErrorNS: r.StandardErrorNS, ClockName: r.ClockName, Interval: r.Interval, RooflineShare: r.RooflineShare,
		PooledRunCount: r.PooledRunCount, DisturbedReason: r.DisturbedReason, AchievedAt: *r.ScoredAt,
	}
}

// RunsOfSource lists, for each run by its ID, the runs that share a score with it, itself included, oldest first. They
// are runs of the same person on the same board with equal source. A run that shares its score with no other is missing
// in the map.
func (l *LifeCycle) RunsOfSource(ctx context.Context, runs ...Run) (map[int64][]Run, error) {
	of, ids, devices := map[int64]int64{}, []int64{}, []string{}
	for _, run := range runs {
		if run.RepresentativeRunID != nil {
			of[*run.RepresentativeRunID], ids, devices = run.ID, append(ids, *run.RepresentativeRunID),
				append(devices, run.Device)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	var list []Run
	err := l.db.Read(ctx).Where("version_id = ? and device in ? and user_id = ? and pool_id in ?", runs[0].VersionID, devices, runs[0].UserID, ids).
		Order("ended_at, id").Find(&list).Error
	together := map[int64][]Run{}
	for _, run := range list {
		id := of[*run.RepresentativeRunID]
		together[id] = append(together[id], run)
	}
	return together, db.ReadError(err, "runs that count together with others")
}

// Run returns the run with an ID.
func (l *LifeCycle) Run(ctx context.Context, id int64) (Run, error) {
	var run Run
	err := l.db.Read(ctx).Take(&run, id).Error
	return run, db.ReadError(err, "run %d", id)
}

// RunsByID reads runs by ID, in one query.
func (l *LifeCycle) RunsByID(ctx context.Context, ids ...int64) (map[int64]Run, error) {
	var list []Run
	err := l.db.Read(ctx).Where("id in ?", ids).Find(&list).Error
	found := make(map[int64]Run, len(list))
	for _, run := range list {
		found[run.ID] = run
	}
	return found, db.ReadError(err, "runs %v", ids)
}

// Runs lists the requested runs of a submission, in the order of its devices. It omits profiles that follow them.
func (l *LifeCycle) Runs(ctx context.Context, submissionID int64) ([]Run, error) {
	var runs []Run
	err := l.db.Read(ctx).Where("submission_id = ? and profile_of is null", submissionID).Order("id").Find(&runs).Error
	return runs, db.ReadError(err, "runs of submission %d", submissionID)
}
