package runs

import (
	"context"
	"fmt"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/models/catalog"
	"warpboard/models/work"
	"warpboard/tasks"
)

// StagesAndProfile has the stages of a run's last attempt and its profile, without parts that the viewer may not see.
type StagesAndProfile struct {
	Stages  []job.StageResult
	Profile Profile
}

// Profile has the stored data of a run's profile.
type Profile struct {
	Run             work.Run          // run that made the profile: the one after a ranked run, or the run itself
	Stages          []job.StageResult // stages of Run
	Cases           []job.CaseResult  // results of Run's cases
	ExtraKeys       map[string]string
	files           map[string]work.Artifact
	NoProfileReason string // reason why there is no profile (yet), as a sentence
}

// StagesAndProfileOf reads the stages and profiles of runs, by run ID. It makes three queries.
func (s *Runs) StagesAndProfileOf(ctx context.Context, list ...RunAccess) (map[int64]StagesAndProfile, error) {
	runs := make([]work.Run, len(list))
	for i, seen := range list {
		runs[i] = seen.Run
	}
	profiles, err := s.site.Store.Work.ProfileRuns(ctx, runs...)
	if err != nil {
		return nil, err
	}
	of, _, err := s.readStagesAndProfile(ctx, list, profiles)
	return of, err
}

// readStagesAndProfile reads the stages and profiles of runs, as StagesAndProfileOf does, for callers that have read
// the profiles' runs and all stages.
func (s *Runs) readStagesAndProfile(ctx context.Context, list []RunAccess, profiles map[int64]work.Run, more ...int64) (
	map[int64]StagesAndProfile, map[int64][]work.Stage, error) {
	ids := more
	for _, seen := range list {
		ids = append(ids, seen.Run.ID)
	}
	for _, profile := range profiles {
		ids = append(ids, profile.ID)
	}
	stages, err := s.site.Store.Work.StagesOf(ctx, ids...)
	if err != nil {
		return nil, nil, err
	}
	files, err := s.filesOf(ctx, profiles)
	if err != nil {
		return nil, nil, err
	}
	of := make(map[int64]StagesAndProfile, len(list))
	for _, seen := range list {
		_, own := seen.redacted(seen.Run, stages[seen.Run.ID])
		one := StagesAndProfile{Stages: own}
		if profile, ok := profiles[seen.Run.ID]; ok {
			shown, left := seen.redacted(profile, stages[profile.ID])
			one.Profile = newProfile(shown, left, files[profile.ID])
		} else {
			one.Profile.NoProfileReason = noProfileReason(seen.Run, seen.Version)
		}
		of[seen.Run.ID] = one
	}
	return of, stages, nil
}

// filesOf reads the files of profiles, by run ID. It makes no query if profiles is empty.
func (s *Runs) filesOf(ctx context.Context, profiles map[int64]work.Run) (map[int64][]work.Artifact, error) {
	var ids []int64
	for _, profile := range profiles {
		ids = append(ids, profile.ID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return s.site.Store.Work.ArtifactsOf(ctx, ids...)
}

// redacted returns a run (or the run that made its profile) and its stages, without parts that the viewer may not see.
func (seen RunAccess) redacted(run work.Run, all []work.Stage) (work.Run, []job.StageResult) {
	stages := StagesOfAttempt(run, all)
	if !seen.MaySeeSource {
		hidden := NewRedactor(seen.Version.Definition)
		run.Failure = hidden.RedactFailure(run.Failure)
		for i := range stages {
			hidden.RedactStage(&stages[i])
		}
	}
	return run, stages
}

func newProfile(run work.Run, stages []job.StageResult, files []work.Artifact) Profile {
	p := Profile{
		Run:             run,
		NoProfileReason: pendingReason(run),
		Stages:          stages,
		files:           make(map[string]work.Artifact, len(files)),
	}
	for _, stage := range p.Stages {
		if stage.Stage == job.StageProfile {
			p.Cases, p.ExtraKeys = stage.Cases, stage.ExtraKeys
		}
	}
	for _, a := range files {
		p.files[a.Name] = a
	}
	return p
}

// ProfileOf reads the profile of a run. If there is none, Profile.NoProfileReason has the reason.
func (s *Runs) ProfileOf(ctx context.Context, seen RunAccess) (Profile, error) {
	of, err := s.StagesAndProfileOf(ctx, seen)
	return of[seen.Run.ID].Profile, err
}

// profilesByID reads the profiles of ranked runs, by run ID. Runs without a profile are missing in the map.
func (s *Runs) profilesByID(ctx context.Context, ids []int64) (map[int64]Profile, error) {
	files, err := s.site.Store.Work.ProfileArtifacts(ctx, ids)
	of := make(map[int64]Profile, len(files))
	for id, left := range files {
		of[id] = newProfile(work.Run{State: work.StateDone}, nil, left)
	}
	return of, err
}

func noProfileReason(run work.Run, version catalog.TaskVersion) string {
	switch {
	case version.Definition.DisableProfile:
		return "Profiling is turned off for this task."
	case run.Device == gpuname.CPU || version.Lang == tasks.LangCPP:
		return "Nsight Compute profiles GPUs; a run on a CPU has no profile."
	case run.Mode != job.ModeRanked:
		return "Only ranked runs are profiled automatically. For a profile of another run, submit in mode profile."
	case !run.Valid():
		return "Only a ranked run that passed is profiled."
	}
	return fmt.Sprintf("When this run ended, no worker with %s could profile.", run.Device)
}
