package web

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/models"
	"warpboard/tasks"
)

// maxUnpacked bounds a parsed report in bytes; real ones have about one million.
const maxUnpacked = 32 << 20

// seenRun is a run, and what the one who asks may see of its submission.
type seenRun struct {
	seenSubmission
	run models.Run
}

// seenRunOf reads the run in an address below its submission's.
func (s *Runs) seenRunOf(c *fiber.Ctx) (seen seenRun, err error) {
	id, err := idParam(c, "run")
	if err != nil {
		return seen, err
	}
	submission, err := idParam(c, "id")
	if err != nil {
		return seen, err
	}
	if seen, err = s.seeRun(c, id); err == nil && seen.sub.ID != submission {
		err = notFound(c)
	}
	return seen, err
}

func (s *Runs) seeRun(c *fiber.Ctx, id int64) (seen seenRun, err error) {
	none := models.Errorf(models.NotFound, "There is no run %d.", id)
	if seen.run, err = s.Store.Run(c.UserContext(), id); models.KindOf(err) == models.NotFound {
		return seen, none
	}
	if err != nil {
		return seen, err
	}
	seen.seenSubmission, err = s.seeSubmission(c, seen.run.SubmissionID)
	if models.KindOf(err) == models.NotFound {
		err = none
	}
	return seen, err
}

// runProfile is what is kept of a run's profile.
type runProfile struct {
	run   models.Run       // that made it: the one that followed a ranked run, or the run itself
	cases []job.CaseResult // how each case went
	notes map[string]string
	files map[string]models.Artifact
	why   string // there is none (yet), in a sentence
}

// profileOf reads what there is of a run's profile, and why there is none.
func (s *Runs) profileOf(ctx context.Context, run models.Run) (p runProfile, err error) {
	if p.run, err = s.Store.ProfileRun(ctx, run); models.KindOf(err) == models.NotFound {
		p.why, err = s.whyUnprofiled(ctx, run)
		return p, err
	}
	if err != nil {
		return p, err
	}
	p.why = profileState(p.run)
	stages, err := s.Store.Stages(ctx, p.run.ID)
	if err != nil {
		return p, err
	}
	for _, stage := range stagesOfAttempt(p.run, stages) {
		if stage.Stage == job.StageProfile {
			p.cases, p.notes = stage.Cases, stage.Extra
		}
	}
	list, err := s.Store.Artifacts(ctx, p.run.ID)
	p.files = make(map[string]models.Artifact, len(list))
	for _, a := range list {
		p.files[a.Name] = a
	}
	return p, err
}

func (s *Runs) whyUnprofiled(ctx context.Context, run models.Run) (string, error) {
	version, err := s.Store.Version(ctx, run.VersionID)
	switch {
	case err != nil:
		return "", err
	case version.Definition.NoProfile:
		return "The task says that its runs are not profiled.", nil
	case run.Device == "CPU" || version.Lang == tasks.LangCPP:
		return "Nsight Compute profiles GPUs; a run on a CPU has no profile.", nil
	case run.Mode != job.ModeRanked:
		return "Only ranked runs are profiled by themselves; submit with the mode profile to profile any other.", nil
	case !run.Valid():
		return "Only a ranked run that passed is profiled.", nil
	}
	return fmt.Sprintf("When this run ended, no worker with %s could profile.", run.Device), nil
}

// profileState says why a run has left no profile so far; nothing when it has ended well.
func profileState(run models.Run) string {
	switch {
	case run.State == models.StateDone:
		return ""
	case run.State == models.StateQueued:
		return fmt.Sprintf("The profile waits until nothing else waits for %s.", run.Device)
	case !run.State.Final():
		return "The profile is being made now: Nsight Compute replays every kernel some forty times."
	case run.Failure != nil:
		return run.Failure.Reason
	}
	return "The profile was cancelled."
}

// whyNot says why a case has no report.
func (p runProfile) whyNot(index int) string {
	for _, c := range p.cases {
		if c.Index == index && c.Status != job.StatusPass {
			return c.Message
		}
	}
	if p.why != "" {
		return p.why
	}
	return "This benchmark case was not profiled."
}

func reportName(index int) string { return fmt.Sprintf("profile.%d.json.gz", index) }

func reportFileName(index int) string { return fmt.Sprintf("profile.%d.ncu-rep.gz", index) }

// reportFile is what ncu wrote of a case, if it was kept: packed, but for what the first workers left.
func (p runProfile) reportFile(index int) (a models.Artifact, kept bool) {
	name := reportFileName(index)
	if a, kept = p.files[name]; !kept {
		a, kept = p.files[strings.TrimSuffix(name, ".gz")]
	}
	return a, kept
}

// report reads the parsed report of a case; nil when there is none.
func (s *Runs) report(p runProfile, index int) (*ncu.Report, error) {
	artifact, ok := p.files[reportName(index)]
	if !ok {
		return nil, nil
	}
	f, err := s.Store.OpenArtifact(artifact)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var report ncu.Report
	z, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(z, maxUnpacked)).Decode(&report)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of run %d: %w", artifact.Name, p.run.ID, err)
	}
	return &report, nil
}

// hideSource takes out of a report what shows the program itself.
func hideSource(report *ncu.Report) {
	for i := range report.Kernels {
		report.Kernels[i].Source = nil
	}
}

// caseSpec shortens a case's line for a tab.
func caseSpec(spec string) string { return strings.ReplaceAll(spec, "; ", ", ") }
