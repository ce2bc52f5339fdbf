package runs

import (
	"context"
	"slices"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks/parse"
	"warpboard/web/site"
)

// Submit checks and stores a submission. All handlers use it. It completes the submission from directives in the
// source; the store checks the rules.
func (s *Runs) Submit(
	ctx context.Context, user accounts.User, in submissions.NewSubmission,
) (submissions.Submission, []work.Run, error) {
	user, err := s.submissionOwner(ctx, user, &in.AddedByAdmin)
	if err != nil {
		return submissions.Submission{}, nil, err
	}
	if err := s.site.CheckDisk(); err != nil {
		return submissions.Submission{}, nil, err
	}
	named, err := parse.ParseDirectives(in.Source)
	if err == nil {
		err = parse.CheckDirectives(in.FileName, in.Source)
	}
	if err != nil {
		return submissions.Submission{}, nil, err
	}
	switch {
	case in.TaskSlug == "" && named.Leaderboard == "":
		return submissions.Submission{}, nil, site.Invalid("task",
			"Name the task, in the request or as %s leaderboard NAME in the source.", parse.DirectivePrefix(in.FileName))
	case in.TaskSlug == "":
		in.TaskSlug = named.Leaderboard
	case named.Leaderboard != "" && !isSameTaskName(named.Leaderboard, in.TaskSlug):
		return submissions.Submission{}, nil, site.Invalid("task_mismatch",
			"The source is for the task %q but was sent to %q.", named.Leaderboard, in.TaskSlug)
	}
	task, err := s.VisibleTask(ctx, user, db.Slug(in.TaskSlug))
	if in.AddedByAdmin.PersonName != "" && db.KindOf(err) == db.NotFound {
		err = site.Invalid("for", "%s cannot see a task %q. Check its name, or invite the person.", user.Name, in.TaskSlug)
	}
	if err != nil {
		return submissions.Submission{}, nil, err
	}
	if in.Devices, err = chooseDevices(in.Devices, named.GPUs, task.Devices); err != nil {
		return submissions.Submission{}, nil, err
	}
	in.User, in.TaskID, in.Mode = user, task.ID, chooseMode(in.Mode)
	if err := s.checkMode(ctx, in.Mode, in.Devices); err != nil {
		return submissions.Submission{}, nil, err
	}
	sub, runs, err := s.site.Store.Submissions.Submit(ctx, in)
	if err != nil {
		return submissions.Submission{}, nil, err
	}
	s.site.Dispatcher.Wake()
	s.site.Hub.QueueChanged() // also wakes the dispatchers of the site's other processes
	return sub, runs, nil
}

// submissionOwner returns the owner of a new submission: the person that an admin names, or the user.
func (s *Runs) submissionOwner(
	ctx context.Context, user accounts.User, added *submissions.AdminSubmission,
) (accounts.User, error) {
	added.Reason = strings.TrimSpace(added.Reason)
	if added.PersonName = strings.TrimSpace(added.PersonName); added.PersonName == "" {
		return user, nil
	}
	if err := user.CheckPermission(accounts.AddSubmission, accounts.OwnerIDs{}); err != nil {
		return user, err
	}
	added.Admin = user
	person, err := s.site.Store.Accounts.UserByName(ctx, added.PersonName)
	if db.KindOf(err) == db.NotFound {
		return user, site.Invalid("for", "There is no person called %q.", added.PersonName)
	}
	return person, err
}

// VisibleTask returns a task, if the user may see it.
func (s *Runs) VisibleTask(ctx context.Context, user accounts.User, slug string) (catalog.Task, error) {
	task, err := s.site.Store.Catalog.Task(ctx, slug)
	if err == nil && !task.VisibleTo(user) {
		err = NoTaskError(slug)
	}
	return task, err
}

// FullTask returns a task with its version, author, and event, if the user may see it.
func (s *Runs) FullTask(ctx context.Context, user accounts.User, slug string) (catalog.FullTask, error) {
	posed, err := s.site.Store.Catalog.FullTask(ctx, slug)
	if err == nil && !posed.VisibleTo(user) {
		err = NoTaskError(slug)
	}
	return posed, err
}

// NoTaskError is the error for a task that does not exist, or that the person may not see.
func NoTaskError(slug string) error { return db.Errorf(db.NotFound, "There is no task %q.", slug) }

// chooseDevices returns the devices of a new submission: the requested ones (asked), those named in the source, or the
// task's only device. Names match in any case. A family name matches if the task has exactly one device of the family.
// The store refuses devices that the task lacks.
func chooseDevices(asked, named, offered []string) ([]string, error) {
	if len(asked) == 0 {
		asked = named
	}
	switch {
	case len(asked) > parse.MaxGPUs:
		return nil, site.Invalid("device", "Choose at most %d devices.", parse.MaxGPUs)
	case len(asked) == 0 && len(offered) == 1:
		return offered, nil
	case len(asked) == 0 && len(offered) > 1:
		return nil, site.Invalid("device", "Choose at least one device: %s.", strings.Join(offered, ", "))
	}
	chosen := make([]string, 0, len(asked))
	for _, name := range asked {
		name = strings.TrimSpace(name)
		switch meant := gpuname.DevicesWithName(name, offered); {
		case len(meant) == 1:
			name = meant[0]
		case len(meant) > 1:
			return nil, site.Invalid("device", "%s matches several devices here: choose %s.", name, strings.Join(meant, " or "))
		}
		if name != "" && !slices.Contains(chosen, name) {
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}

func chooseMode(mode job.Mode) job.Mode {
	switch mode {
	case "":
		return job.ModeTest
	case "leaderboard": // KernelBot's name of mode ranked
		return job.ModeRanked
	}
	return mode
}

// isSameTaskName reports whether two task names have the same slug, such as vector_add and vector-add.
func isSameTaskName(a, b string) bool { return db.Slug(a) == db.Slug(b) }

// Cancel cancels every unfinished run of a submission. It returns a Conflict error if there is none.
func (s *Runs) Cancel(ctx context.Context, user accounts.User, submissionID int64) error {
	runs, err := s.site.Store.Work.Runs(ctx, submissionID)
	if err != nil {
		return err
	}
	ended := 0
	for _, run := range runs {
		if run.State.IsFinal() {
			continue
		}
		err := s.site.Dispatcher.Cancel(ctx, user, run.ID)
		if db.KindOf(err) == db.Conflict {
			continue // the run has just ended
		}
		if err != nil {
			return err
		}
		ended++
	}
	if ended == 0 {
		return db.Errorf(db.Conflict, "Submission %d has ended already.", submissionID)
	}
	return nil
}

// Delete deletes a submission with its runs and results, and notifies open pages.
func (s *Runs) Delete(ctx context.Context, user accounts.User, submissionID int64, why string) error {
	changes, err := s.site.Store.DeleteSubmission(ctx, user, submissionID, why)
	if err != nil {
		return err
	}
	for _, b := range changes {
		s.site.Hub.BoardChanged(b.VersionID, b.Device, b.ChangeNumber)
	}
	s.site.Hub.QueueChanged()
	return nil
}
