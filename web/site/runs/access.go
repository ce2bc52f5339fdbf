package runs

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/comments"
	"warpboard/models/db"
	"warpboard/models/submissions"
	"warpboard/views"
	"warpboard/web/site"
)

// SubmissionAccess is a submission with its task and the viewer's rights.
type SubmissionAccess struct {
	Submission   submissions.Submission
	Owner        accounts.User
	Task         catalog.Task
	Version      catalog.TaskVersion // version of the submission
	MaySeeSource bool                // the source, and output of compilers and programs, which may quote it
	IsOwner      bool                // the viewer submitted it
	MayReview    bool                // the viewer may decide about its runs
	MaySeeTask   bool                // the viewer may see the task, and so other people's runs
}

// ProfileFilter returns the filter of the submission's profile, or nil if the viewer may not see it.
func (a SubmissionAccess) ProfileFilter() *job.ProfileFilter {
	if a.MaySeeSource {
		return a.Submission.ProfileFilter
	}
	return a.Submission.ProfileFilter.WithoutNames()
}

// LoadSubmission reads the submission of the path, if the viewer may see it.
func (s *Runs) LoadSubmission(c *fiber.Ctx) (seen SubmissionAccess, err error) {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return seen, err
	}
	return s.SubmissionByID(c.UserContext(), site.Actor(c), id)
}

// SubmissionByID returns the submission with an ID, if the viewer may see it.
func (s *Runs) SubmissionByID(ctx context.Context, viewer accounts.User, id int64) (seen SubmissionAccess, err error) {
	filed, err := s.site.Store.Submissions.Details(ctx, id)
	if err != nil {
		return seen, err
	}
	return s.accessOf(viewer, filed, id)
}

// accessOf returns a submission of the map filed with the viewer's rights, or a not-found error if the viewer may not
// see it.
func (s *Runs) accessOf(
	viewer accounts.User, filed map[int64]submissions.SubmissionDetails, id int64,
) (seen SubmissionAccess, err error) {
	f, there := filed[id]
	open := f.Task.VisibleTo(viewer)
	visible := open && (f.Version.WasPublished() || f.Task.EditableBy(viewer))
	if !there || !visible && f.UserID != viewer.ID || f.HiddenFrom(viewer) {
		return seen, db.Errorf(db.NotFound, "There is no submission %d.", id)
	}
	return SubmissionAccess{Submission: f.Submission, Owner: f.User, Task: f.Task, Version: f.Version, MaySeeTask: open, IsOwner: f.UserID == viewer.ID,
		MaySeeSource: submissions.MaySeeSource(viewer, f.Submission, f.Task, s.site.Now()),
		MayReview:    viewer.CanPerform(accounts.ReviewRun, accounts.OwnerIDs{AuthorID: f.Task.OwnerID})}, nil
}

// SourceHiddenReason returns the reason why sources of the task are hidden.
func SourceHiddenReason(task catalog.Task) string {
	if task.Deadline == nil {
		return "the task has no deadline, so only the submitter and admins can read this source"
	}
	return "the source can be read after the task's deadline"
}

// SourcePrivateText returns a sentence that something (what) is not shown because it reveals a source of the task.
func SourcePrivateText(what string, task catalog.Task) string {
	if task.Deadline == nil {
		return what + " is private: only the submitter and admins can read it."
	}
	return what + " is private until the deadline."
}

// BoardHead returns a board's summary without its entries. A task has a board for each device that it lists or that has
// runs.
func (s *Runs) BoardHead(
	ctx context.Context, task catalog.Task, versionID int64, device string,
) (boards.BoardHead, error) {
	head, err := s.site.Store.Boards.ReadHead(ctx, versionID, device)
	if err == nil && head.ChangeNumber == 0 && !slices.Contains(task.Devices, device) {
		err = db.Errorf(db.NotFound, "%s has no board for %q; there are: %s.", task.Title, device, strings.Join(task.Devices, ", "))
	}
	return head, err
}

// BoardChangeNumber returns the change number of a board: the number of its visible changes so far; 0 before the first
// entry. Equal numbers mean that the board looks the same, so responses can be cached by it. The error is NotFound if
// the task has no board for the device.
func (s *Runs) BoardChangeNumber(ctx context.Context, task catalog.Task, versionID int64, device string) (int64, error) {
	head, err := s.BoardHead(ctx, task, versionID, device)
	return head.ChangeNumber, err
}

// RedirectToBoardOfDevice handles a path whose device has no board (why is the error). It redirects to the board of the
// same device in another case ("cpu"), or to that of a device of the named family ("H100"). If the family has several
// boards, it redirects to the first one if any is true. Otherwise it returns why.
func RedirectToBoardOfDevice(c *fiber.Ctx, task catalog.Task, any bool, why error) error {
	meant := gpuname.DevicesWithName(c.Params("device"), task.Devices)
	if db.KindOf(why) != db.NotFound || len(meant) == 0 || len(meant) > 1 && !any || meant[0] == c.Params("device") {
		return why
	}
	to := path.Join(path.Dir(c.Path()), meant[0])
	if query := string(c.Request().URI().QueryString()); query != "" {
		to += "?" + query
	}
	return c.Redirect(to, fiber.StatusFound)
}

// BoardOf returns the task and version of the board in the path: the current version, or the one of ?version=N.
func (s *Runs) BoardOf(c *fiber.Ctx) (task catalog.Task, version catalog.TaskVersion, err error) {
	posed, err := s.FullTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return task, version, err
	}
	task = posed.Task
	if asked := c.Query("version"); asked != "" {
		number, err := strconv.Atoi(asked)
		if err != nil {
			return task, version, site.Invalid("version", "%q is not a valid version number.", asked)
		}
		version, err = s.site.Store.Catalog.VersionNumber(c.UserContext(), task.ID, number)
		return task, version, err
	}
	return task, posed.Version, nil
}

// ClientHasVersion sets the ETag of the response, and reports whether the client has this version already. The ETag is
// weak, because compressed and uncompressed responses share it.
func ClientHasVersion(c *fiber.Ctx, tag string) bool {
	tag = strconv.Quote(tag)
	c.Set(fiber.HeaderETag, "W/"+tag)
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	for known := range strings.SplitSeq(c.Get(fiber.HeaderIfNoneMatch), ",") {
		if strings.TrimPrefix(strings.TrimSpace(known), "W/") == tag {
			return true
		}
	}
	return false
}

// CommentThread returns the thread of the task or submission in the path, and the author of that task or submission.
// The store checks whether the viewer may read it.
func (s *Runs) CommentThread(c *fiber.Ctx) (t comments.Thread, author views.Person, err error) {
	if slug := c.Params("slug"); slug != "" {
		t.Task, err = s.VisibleTask(c.UserContext(), site.Actor(c), slug)
		return t, site.PersonLink(t.Task.OwnerID, ""), err
	}
	seen, err := s.LoadSubmission(c)
	return comments.Thread{Task: seen.Task, Submission: &seen.Submission}, site.PersonLink(seen.Owner.ID, seen.Owner.Name), err
}
