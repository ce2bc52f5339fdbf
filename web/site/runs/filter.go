package runs

import (
	"context"
	"strconv"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/submissions"
	"warpboard/web/site"
)

// ReadFilter reads the filter of a profile from a form; nil: it chooses nothing.
func ReadFilter(form map[string][]string) (*job.ProfileFilter, error) {
	first := func(name string) string {
		return strings.TrimSpace(strings.Join(form[name][:min(1, len(form[name]))], ""))
	}
	filter := &job.ProfileFilter{Kernel: first("kernel"), Sections: form["section"]}
	for name, to := range map[string]*int{"launch_skip": &filter.LaunchSkip, "launch_count": &filter.LaunchCount} {
		text := first(name)
		if text == "" {
			continue
		}
		number, err := strconv.Atoi(text)
		if err != nil {
			return filter, site.Invalid("profile_filter", "The filter's %s must be a number, not %.20q.", strings.ReplaceAll(name, "_", " "), text)
		}
		*to = number
	}
	if filter.Empty() {
		return nil, nil
	}
	return filter, nil
}

// ProfileAgain submits the source of the viewer's run to be profiled with a filter, on its device.
func (s *Runs) ProfileAgain(ctx context.Context, user accounts.User, seen RunAccess, filter *job.ProfileFilter) (sub submissions.Submission, err error) {
	if !seen.Mine {
		return sub, site.Forbidden("not_yours", "Only the person who submitted it can profile it again.")
	}
	source, err := s.site.Store.Submissions.Source(ctx, seen.Sub)
	if err != nil {
		return sub, err
	}
	sub, _, err = s.Submit(ctx, user, submissions.NewSubmission{Task: seen.Task.Slug, Devices: []string{seen.Run.Device}, Mode: job.ModeProfile,
		FileName: seen.Sub.FileName, Source: source.Source, Files: source.Files, Filter: filter, Via: "web"})
	return sub, err
}
