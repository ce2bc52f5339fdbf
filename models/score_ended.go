package models

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/models/samples"
	"warpboard/models/work"
)

// Each ranked run stores a sample (package samples). Runs with equal source share one score, and one of them represents
// the others on the board.

// storeSample stores the sample of a ranked run. Samples of reruns by the site count only after they are accepted.
func storeSample(tx *gorm.DB, r *work.Run, result job.Result) error {
	if r.Mode != job.ModeRanked || r.State != work.StateDone || r.ScoreNS == nil {
		return nil
	}
	s := sampleFromRun(r)
	s.EpochID, s.CaseTimes = r.EpochID, samples.ProcessTimesByCase(result.Stages)
	s.MeasuredValues = samples.MeasuredValues{ScoreNS: *r.ScoreNS, DeviationNS: r.DeviationNS, StandardErrorNS: r.StandardErrorNS, ClockName: r.ClockName, Interval: r.Interval,
		RooflineShare: r.RooflineShare, DisturbedReason: r.DisturbedReason}
	if r.Purpose != work.PurposeSubmitted {
		s.RunID, s.SetAsideAt, s.Reason = *r.ProfileOf, r.EndedAt, samples.ReasonUndecidedOrder
	}
	return samples.AddSample(tx, s)
}

func sampleFromRun(r *work.Run) samples.Sample {
	return samples.Sample{VersionID: r.VersionID, Device: r.Device, UserID: r.UserID, RunID: r.ID, MeasuredByRun: r.ID,
		Purpose: r.Purpose, EndedAt: *r.EndedAt}
}

// scoreEndedRun computes the common score of a valid run that has just ended and of the runs with equal source. It
// returns the run that represents them on the board.
func scoreEndedRun(tx *gorm.DB, r *work.Run) (stands work.Run, err error) {
	if err := samples.UpdateScores(tx, r.VersionID, r.Device, r.UserID, r.ID); err != nil {
		return stands, err
	}
	err = tx.Where("id = (select coalesce(pool_id, id) from runs where id = ?)", r.ID).Take(&stands).Error
	return stands, db.ReadError(err, "run that stands for run %d", r.ID)
}

// Reasons that are stored with the samples of runs that ended without a score. These samples count.
const (
	cancelledRunReason = "cancelled"
	failedRunReason    = "failed"
)

// storeSampleOfEndedRun stores the sample of a ranked run that its person cancelled or that failed, and updates the
// score of valid runs with equal source. If the run ended before the ranked stage completed, the sample counts as an
// unfinished process, because the person or the kernel may have ended it on a slow slot. Infrastructure errors and
// cancellations by staff do not count. Failures of the task do, because a kernel's answer can cause them.
func storeSampleOfEndedRun(tx *gorm.DB, r *work.Run, result job.Result, why string) (*boards.ChangedBoard, error) {
	kept := sampleFromRun(r)
	kept.Reason = why
	switch cases := samples.ProcessTimesByCase(result.Stages); {
	case r.Mode != job.ModeRanked || r.Purpose != work.PurposeSubmitted || r.InfrastructureError:
		return nil, nil
	case len(cases) > 0:
		kept.CaseTimes = cases
	case result.UnfinishedRanking != nil:
		kept.CaseTimes, kept.IsUnfinished = result.UnfinishedRanking.CaseMedians, true
	case r.StartedAt != nil && (why == cancelledRunReason || hasProgramStarted(result.Stages)):
		kept.IsUnfinished = true
	default:
		return nil, nil
	}
	// Staff cancelled the run, so the unfinished process does not count against the person. Finished processes still
	// count.
	if r.CancelledByStaff {
		if kept.IsUnfinished = false; len(kept.CaseTimes) == 0 || len(kept.CaseTimes[0]) == 0 {
			return nil, nil
		}
	}
	var err error
	if kept.EpochID, err = epochs.FindOrCreateID(tx, epochs.SoftwareOfRun(result.Machine)); err == nil {
		err = samples.AddSample(tx, kept) // added only once, because RecordResult ignores a repeated result
	}
	if err == nil {
		err = samples.UpdateScores(tx, r.VersionID, r.Device, r.UserID, r.ID)
	}
	var stands []work.Run
	if err == nil {
		err = runsOfEqualSource(tx, *r).Where("epoch_id = ? and "+boards.MayBeEntrySQL, kept.EpochID).Limit(1).Find(&stands).Error
	}
	if err != nil || len(stands) == 0 {
		return nil, db.WriteError(err, "what run %d measured", r.ID)
	}
	return boards.EnterRun(tx, stands[0].BoardEntry(), true)
}

// runsOfEqualSource selects the runs of a person on a board that have the same source as run, including run.
func runsOfEqualSource(tx *gorm.DB, run work.Run) *gorm.DB {
	return tx.Model(&work.Run{}).Where("version_id = ? and device = ? and user_id = ?", run.VersionID, run.Device, run.UserID).
		Where(`submission_id in (select s.id from submissions s join submissions o on o.user_id = s.user_id
			and o.version_id = s.version_id and o.source_key = s.source_key where o.id = ?)`, run.SubmissionID)
}

// hasProgramStarted reports whether the program of the submission was started. A submission that does not compile
// cannot learn anything about its slot.
func hasProgramStarted(stages []job.StageResult) bool {
	return slices.ContainsFunc(stages, func(s job.StageResult) bool { return s.Stage != job.StageBuild })
}

// recomputeBoards updates boards after runs of people changed or were deleted: first the scores of the runs, then the
// entries, which depend on them.
func recomputeBoards(tx *gorm.DB, runs []boards.Entry) ([]boards.ChangedBoard, error) {
	for _, e := range runs {
		if err := samples.UpdateScores(tx, e.VersionID, e.Device, e.UserID, 0); err != nil {
			return nil, err
		}
	}
	return boards.RecomputeEntries(tx, runs)
}

// RebuildScores recomputes the scores of all runs from samples, and all boards from the runs. It takes 15 s of CPU time
// per 100,000 runs and blocks other writers.
func (s *Store) RebuildScores(ctx context.Context) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if _, err := applyHolds(tx, tx.Model(&work.Run{})); err != nil {
			return err
		}
		return samples.RebuildScores(tx)
	})
	if err != nil {
		return fmt.Errorf("rebuilding scores: %w", err)
	}
	return s.Boards.RebuildEntries(ctx)
}
