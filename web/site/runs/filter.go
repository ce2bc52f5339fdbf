package runs

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/web/site"
)

// ReadProfileFilter reads the filter of a profile from a form. It returns nil if the form selects nothing.
func ReadProfileFilter(form map[string][]string) (*job.ProfileFilter, error) {
	first := func(name string) string {
		return strings.TrimSpace(strings.Join(form[name][:min(1, len(form[name]))], ""))
	}
	filter, benchmark := &job.ProfileFilter{Kernel: first("kernel"), KernelNameBase: first("kernel_name_base"), Sections: form["section"]}, 0
	for name, to := range map[string]*int{"launch_skip": &filter.LaunchSkip, "launch_count": &filter.LaunchCount, "benchmark": &benchmark} {
		text := first(name)
		if text == "" {
			continue
		}
		number, err := strconv.Atoi(text)
		if err != nil {
			return filter, site.Invalid("profile_filter", "The filter's %s must be a number, not %.20q.", strings.ReplaceAll(name, "_", " "), text)
		}
		if *to = number; to == &benchmark {
			filter.Benchmark = to
		}
	}
	if filter.Empty() {
		return nil, nil
	}
	return filter, nil
}

// ProfileAgain submits the source of a run, on the run's device, in mode profile, with a filter. The user must own the
// run.
func (s *Runs) ProfileAgain(
	ctx context.Context, user accounts.User, seen RunAccess, filter *job.ProfileFilter,
) (submissions.Submission, error) {
	return s.resubmit(ctx, user, seen, submissions.NewSubmission{Mode: job.ModeProfile, ProfileFilter: filter})
}

// SubmitAgain submits the source of a run again in the same mode. The user must own the run. A second call returns the
// same submission.
func (s *Runs) SubmitAgain(ctx context.Context, user accounts.User, seen RunAccess) (submissions.Submission, error) {
	return s.resubmit(ctx, user, seen, submissions.NewSubmission{
		Mode:          work.WorkerMode(seen.Run.Mode),
		ProfileFilter: seen.Submission.ProfileFilter,
		RequestKey:    fmt.Sprintf("again-%d", seen.Run.ID),
	})
}

// resubmit submits the source of a run again on its device. The user must own the run.
func (s *Runs) resubmit(
	ctx context.Context, user accounts.User, seen RunAccess, in submissions.NewSubmission,
) (sub submissions.Submission, err error) {
	if !seen.IsOwner {
		return sub, site.Forbidden("not_yours", "Only the person who submitted it can run it again.")
	}
	source, err := s.site.Store.Submissions.Source(ctx, seen.Submission)
	if err != nil {
		return sub, err
	}
	in.TaskSlug, in.Devices, in.Via = seen.Task.Slug, []string{seen.Run.Device}, "web"
	in.FileName, in.Source, in.AdditionalFiles = seen.Submission.FileName, source.Source, source.Files
	sub, _, err = s.Submit(ctx, user, in)
	return sub, err
}
