package pages

import (
	"context"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/views"
	"warpboard/web/site/runs"
)

// remarks are what the compiler said of the lines of a submission, on whichever device it said it first.
func (p *Pages) remarks(ctx context.Context, sub models.Submission) ([]views.Remark, error) {
	version, err := p.Store.Version(ctx, sub.VersionID)
	if err != nil {
		return nil, err
	}
	names := []string{sub.FileName}
	for _, f := range version.Definition.Files {
		if f.IsSubmission() {
			names = append(names, f.Name)
		}
	}
	all, err := p.Store.Runs(ctx, sub.ID)
	if err != nil {
		return nil, err
	}
	for _, run := range all {
		stages, err := p.Store.Stages(ctx, run.ID)
		if err != nil {
			return nil, err
		}
		for _, stage := range runs.StagesOfAttempt(run, stages) {
			if stage.Stage != job.StageBuild && stage.Status == job.StatusPass {
				continue
			}
			if remarks := views.RemarksOf(stage.Stderr+"\n"+stage.Stdout, names...); len(remarks) > 0 {
				return remarks, nil
			}
		}
	}
	return nil, nil
}
