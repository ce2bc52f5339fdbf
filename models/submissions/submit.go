package submissions

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/events"
	"warpboard/models/quota"
	"warpboard/models/review"
	"warpboard/models/switches"
	"warpboard/models/work"
	"warpboard/tasks"
)

// ViaTrial marks the submissions of a task's trial.
const ViaTrial = "trial"

// NewSubmission describes a submission to store.
type NewSubmission struct {
	User            accounts.User
	AddedByAdmin    AdminSubmission // set if an admin adds it
	TaskSlug        string          // slug in the request or the source; the site fills in TaskID
	TaskID          int64
	VersionID       int64 // for a trial, the task's unpublished version; 0 for the current one
	Devices         []string
	Mode            job.Mode
	FileName        string // empty for the name in the task's definition
	Source          []byte
	AdditionalFiles map[string][]byte  // further files by name, if the task allows them
	ProfileFilter   *job.ProfileFilter // kernels to profile; only for mode profile
	Via             string             // "web", "api", "cli", "popcorn", "trial", or "site"
	RequestKey      string             // idempotency key; empty if none

	submittedAt   time.Time // by the database's clock
	frozenEventID int64     // ID of the frozen event; 0 if none
}

func (in NewSubmission) asTaskSubmission() tasks.Submission {
	return tasks.Submission{Source: in.Source, Files: in.AdditionalFiles}
}

// Submit stores a submission with one queued run per device, or returns an error and stores nothing: Invalid or
// Forbidden for mistakes of the person, TooMany for a reached limit.
func (t *Submissions) Submit(ctx context.Context, in NewSubmission) (sub Submission, runs []work.Run, err error) {
	if err := in.check(); err != nil {
		return Submission{}, nil, err
	}
	// The search for hints takes milliseconds, so it precedes the transaction, which blocks other writers.
	found := ""
	if in.Mode == job.ModeRanked {
		found = cheatingHintsIn(in.asTaskSubmission())
	}
	err = t.db.Write(ctx, func(tx *gorm.DB) error {
		// The key is checked first, so that a repetition of an accepted request succeeds even if a limit or the
		// deadline has been reached since.
		if sub, runs, err = findByRequestKey(tx, in); err != nil || sub.ID > 0 {
			return err
		}
		in.submittedAt = db.NormalizeTime(tx.NowFunc())
		task, version, err := readOpenTask(tx, in)
		if err != nil {
			return err
		}
		if in.frozenEventID, err = events.CheckEventOpen(tx, task, in.submittedAt, in.AddedByAdmin.Admin.SignedIn() || in.Via == ViaTrial); err != nil {
			return err
		}
		if in.Mode == job.ModeRanked && in.isTooLate(task, in.submittedAt) {
			in.Mode = work.ModePractice
		}
		if _, _, err := in.ProfileFilter.ChooseCases(nil, version.Definition.Benchmarks); err != nil {
			return db.Errorf(db.Invalid, "The filter of the profile is wrong: %v.", err)
		}
		if in.FileName, err = sourceName(in.FileName, version.Definition); err != nil {
			return err
		}
		// Permanent reasons come first: rights and deadline, then files, then limits, which end with time.
		if err := in.checkFiles(tx, version); err != nil {
			return err
		}
		if err := in.checkCleanSanitizerRun(tx, task, version); err != nil {
			return err
		}
		if err := t.checkLimits(tx, in, task); err != nil {
			return err
		}
		if sub, runs, err = StoreAndQueue(tx, in, task, version); err != nil {
			return err
		}
		if err := in.recordUse(tx, sub); err != nil || in.Mode != job.ModeRanked {
			return err
		}
		return review.FlagRunsForSource(tx, sub.SourceHash, runIDs(runs), found)
	})
	return sub, runs, err
}

func (t *Submissions) checkLimits(tx *gorm.DB, in NewSubmission, task catalog.Task) error {
	if in.AddedByAdmin.Admin.SignedIn() {
		return nil
	}
	if err := t.limits.checkLimits(tx, in.User); err != nil {
		return err
	}
	if err := quota.CheckTaskLimits(tx, in.User, task.ID, task.Limits, work.WorkerMode(in.Mode)); err != nil {
		return err
	}
	return quota.CheckBudget(tx, in.User, in.Devices...)
}

// recordUse counts a submission for task limits, which may also be set later.
func (in NewSubmission) recordUse(tx *gorm.DB, sub Submission) error {
	if in.AddedByAdmin.Admin.SignedIn() {
		return nil
	}
	return quota.RecordUse(tx, quota.SubmissionUse{
		SubmissionID: sub.ID,
		UserID:       sub.UserID,
		TaskID:       sub.TaskID,
		Mode:         work.WorkerMode(sub.Mode),
		CreatedAt:    sub.CreatedAt,
	})
}

func (in NewSubmission) check() error {
	switch {
	case !in.User.SignedIn():
		return db.Errorf(db.Forbidden, "Sign in to submit.")
	case len(in.Devices) == 0:
		return db.Errorf(db.Invalid, "Choose at least one device.")
	}
	if err := in.AddedByAdmin.check(); err != nil {
		return err
	}
	if err := work.CheckRequestKey(in.RequestKey); err != nil {
		return err
	}
	if err := tasks.CheckSubmission(in.asTaskSubmission()); err != nil {
		return db.Errorf(db.Invalid, "This cannot be submitted: %v.", err)
	}
	if err := in.checkProfileFilter(); err != nil {
		return err
	}
	switch in.Mode {
	case job.ModeTest, job.ModeBenchmark, job.ModeRanked, job.ModeProfile, job.ModeSanitize:
		return nil
	}
	return db.Errorf(db.Invalid, "There is no mode %q: choose test, benchmark, ranked, profile or sanitize.", in.Mode)
}

func (in NewSubmission) checkProfileFilter() error {
	if err := in.ProfileFilter.Check(); err != nil {
		return db.Errorf(db.Invalid, "The filter of the profile is wrong: %v.", err)
	}
	if !in.ProfileFilter.Empty() && in.Mode != job.ModeProfile {
		return db.Errorf(db.Invalid, "Only a submission of mode profile can have a profile filter, not one of mode %s.", in.Mode)
	}
	return nil
}

// readOpenTask reads the task, and returns an error if the person cannot submit to it now.
func readOpenTask(tx *gorm.DB, in NewSubmission) (task catalog.Task, version catalog.TaskVersion, err error) {
	// in.User may be outdated: the person may have been blocked since it was read.
	user, err := accounts.UserByID(tx, in.User.ID)
	if err != nil {
		return task, version, err
	}
	if user.BlockedAt != nil {
		return task, version, db.Errorf(db.Forbidden, "This account is blocked. Ask an admin of this site.")
	}
	if err := tx.Take(&task, in.TaskID).Error; err != nil {
		return task, version, db.ReadError(err, "task %d", in.TaskID)
	}
	// The error is NotFound instead of Forbidden, to hide that the task exists.
	if !task.VisibleTo(user) {
		return task, version, db.Errorf(db.NotFound, "There is no task %d.", in.TaskID)
	}
	if err := switches.CheckOn(tx, switches.SubmissionsSwitch, switches.TaskSwitchName(task.ID)); err != nil {
		return task, version, err
	}
	if in.isTooLate(task, in.submittedAt) && !task.AllowsPractice {
		return task, version, db.Errorf(db.Forbidden, "The deadline of %s was %s UTC. It no longer takes submissions.",
			task.Title, task.Deadline.Format("2006-01-02 15:04:05"))
	}
	for i, d := range in.Devices {
		if !slices.Contains(task.Devices, d) || slices.Contains(in.Devices[:i], d) {
			return task, version, db.Errorf(db.Invalid, "%s cannot run on %q. Choose from these, each at most once: %s.",
				task.Title, d, strings.Join(task.Devices, ", "))
		}
	}
	// The version is the current one, which may be newer than that of the person's page.
	err = tx.Where("task_id = ?", task.ID).Take(&version, cmp.Or(in.VersionID, task.VersionID)).Error
	return task, version, db.ReadError(err, "version of task %s", task.Slug)
}

// sourceName cleans the name of a submitted file and checks it against the language of the task.
func sourceName(name string, d tasks.Definition) (string, error) {
	if name == "" {
		return d.SubmissionName(), nil
	}
	// The name is shown and used for downloads, so it has no folders (Windows' included), no control or direction
	// characters, and at most 120 bytes. In the sandbox the task's definition names the file.
	name = db.CutText(db.SanitizeText(path.Base(strings.ReplaceAll(name, `\`, "/"))), 120)
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
		return "", db.Errorf(db.Invalid, "The file name %q contains an invisible character. Rename the file.", name)
	}
	suffixes := map[tasks.Lang][]string{
		tasks.LangCUDA:   {".cu", ".cuh", ".cpp"},
		tasks.LangPython: {".py"},
		tasks.LangCPP:    {".cpp", ".cc", ".cxx", ".h", ".hpp"},
	}[d.Lang]
	if !slices.Contains(suffixes, strings.ToLower(path.Ext(name))) {
		return "", db.Errorf(db.Invalid, "The task takes a file ending in %s, not %q.", strings.Join(suffixes, " or "), name)
	}
	return name, nil
}

// checkFiles returns an error for additional files that the task does not accept, or whose names are taken.
func (in NewSubmission) checkFiles(tx *gorm.DB, version catalog.TaskVersion) error {
	if len(in.AdditionalFiles) == 0 {
		return nil
	}
	files, err := catalog.VersionFiles(tx, version.ID)
	if err != nil {
		return err
	}
	bundle := tasks.Bundle{Definition: version.Definition, Files: files}
	if err := bundle.CheckFiles(in.asTaskSubmission().Names()); err != nil {
		return db.Errorf(db.Invalid, "This cannot be submitted: %v.", err)
	}
	if _, twice := in.AdditionalFiles[in.FileName]; twice {
		return db.Errorf(db.Invalid, "This cannot be submitted: the main file and another one are both called %q.", in.FileName)
	}
	return nil
}

// StoreAndQueue stores a submission with its runs without checking limits. The site's own baselines use it directly.
func StoreAndQueue(
	tx *gorm.DB, in NewSubmission, task catalog.Task, version catalog.TaskVersion,
) (Submission, []work.Run, error) {
	sub, err := in.save(tx, task, version)
	if err != nil {
		return Submission{}, nil, err
	}
	runs := make([]work.Run, 0, len(in.Devices))
	for _, device := range in.Devices {
		run := work.Run{
			SubmissionID: sub.ID, VersionID: sub.VersionID, UserID: sub.UserID, Mode: sub.Mode,
			Work: work.Work{Device: device, Requires: version.Definition.RequiredPackages.String(), QueuedAt: sub.CreatedAt},
		}
		// No page shows the new submission yet, so the events are stored but not announced. The dispatcher finds the
		// runs in its next pass.
		if err := work.Enqueue(tx, &run, &work.Effect{}); err != nil {
			return sub, nil, err
		}
		runs = append(runs, run)
	}
	return sub, runs, nil
}

func (in NewSubmission) save(tx *gorm.DB, task catalog.Task, version catalog.TaskVersion) (Submission, error) {
	// Contents are stored once per hash. A rollback removes a new one.
	hash, err := catalog.PutBlob(tx, in.asTaskSubmission().Pack())
	if err != nil {
		return Submission{}, err
	}
	sub := Submission{
		UserID: in.User.ID, TaskID: task.ID, VersionID: version.ID, Mode: in.Mode,
		FileName: in.FileName, SourceHash: hash, SourceKey: hash, Via: in.Via, CreatedAt: db.Now(), AdminAddedReason: in.AddedByAdmin.Reason, FrozenEventID: in.frozenEventID,
	}
	if in.RequestKey != "" {
		sub.RequestKey = &in.RequestKey
	}
	if !in.ProfileFilter.Empty() {
		sub.ProfileFilter = in.ProfileFilter
	}
	if err := tx.Create(&sub).Error; err != nil || !in.AddedByAdmin.Admin.SignedIn() {
		return sub, db.WriteError(err, "submission")
	}
	return sub, accounts.WriteAudit(tx, in.AddedByAdmin.Admin, "add submission", fmt.Sprintf("submission %d", sub.ID), "for "+in.User.Name+": "+in.AddedByAdmin.Reason)
}

func runIDs(runs []work.Run) []int64 {
	ids := make([]int64, len(runs))
	for i, run := range runs {
		ids[i] = run.ID
	}
	return ids
}
