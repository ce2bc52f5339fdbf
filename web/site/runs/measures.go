package runs

import (
	"cmp"
	"fmt"
	"slices"

	"warpboard/evaluator/job"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/views"
)

// addMeasurements adds the measurements of an ended run to its card.
func (s *Runs) addMeasurements(of cardSource, def tasks.Definition, card *views.RunCard) (err error) {
	run := of.Run
	card.Timeline = TimelineOf(run, of.StagesAndProfile)
	card.Timeline.TraceURL = fmt.Sprintf("/runs/%d/trace.json", run.ID)
	profile := of.Profile
	if profile.Run.ID != 0 && profile.NoProfileReason == "" {
		card.DetailsURL = string(views.ProfileURL(run.SubmissionID, run.ID))
	} else if profile.Run.ID != 0 && profile.Run.ID != run.ID {
		card.ProfileNote = profile.NoProfileReason
	}
	card.LaunchedKernels = profiledKernels(run, def, profile)
	var stages []job.StageResult
	for _, stage := range card.Stages {
		stages = append(stages, stage.Result)
		if stage.Result.Stage == job.StageBuild {
			card.Kernels = views.ParseKernelFacts(stage.Result.ExtraKeys)
		}
	}
	if card.MeasuredCases, err = s.measuredCases(profile, def, StageOfScore(stages)); err != nil {
		return err
	}
	first := card.Outcome.LeadingRun // set for a run that is an entry of its board
	if first == 0 && run.ScoreNS != nil {
		first = of.firstRunID
	}
	if first != run.ID && first != card.Outcome.NextRun { // the page already has a link to a comparison with NextRun
		card.CompareURL = views.CompareURL(first, run.ID)
	}
	return nil
}

// profiledKernels returns the kernels that a profile recorded, with their launch counts.
func profiledKernels(run work.Run, def tasks.Definition, profile Profile) views.LaunchedKernels {
	ran := views.LaunchedKernels{Kernels: job.MergeKernels(profile.Cases), Refused: def.RefuseLibraryKernels}
	for _, c := range profile.Cases {
		launches := 0
		for _, k := range c.Kernels {
			launches += k.LaunchCount
		}
		if launches > 0 {
			ran.Cases++
		}
		ran.Full = ran.Full || launches >= job.MaxProfiledLaunches
	}
	if ran.Refused && run.ScoreNS != nil && len(ran.Kernels) == 0 {
		ran.Unknown = cmp.Or(profile.NoProfileReason, "The worker that profiled this run did not list its kernels.")
	}
	return ran
}

// measuredCases returns the measured times of cases together with the work (bytes, operations) that the task declares
// for them.
func (s *Runs) measuredCases(
	profile Profile, def tasks.Definition, stage job.StageResult,
) ([]views.MeasuredCase, error) {
	var cases []views.MeasuredCase
	for _, c := range stage.Cases {
		if c.Status != job.StatusPass || !(c.Mean > 0) {
			continue
		}
		one := views.MeasuredCase{Case: c}
		if def.Roofline != nil {
			if i := slices.IndexFunc(def.Benchmarks, func(declared tasks.Case) bool { return declared.String() == c.SpecLine }); i >= 0 {
				// cannot fail: the task was checked when it was created
				one.Bytes, one.Flops, _ = def.Roofline.BytesAndFlops(def.Benchmarks[i])
			}
		}
		roofs, err := s.rooflineLimits(profile, c.Index)
		if err != nil {
			return nil, err
		}
		one.PeakBytes, one.PeakFlops, one.PeakFlopsKind = roofs.bandwidth, roofs.flops, roofs.flopsKind
		cases = append(cases, one)
	}
	return cases, nil
}

// rooflineLimits returns the roofline limits of the device, from the case's report or another case's.
func (s *Runs) rooflineLimits(profile Profile, index int) (reportFacts, error) {
	facts, ok, err := s.factsOfCase(profile, index)
	for _, c := range profile.Cases {
		if ok || err != nil {
			break
		}
		facts, ok, err = s.factsOfCase(profile, c.Index)
	}
	return facts, err
}
