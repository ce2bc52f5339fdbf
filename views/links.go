package views

import (
	"fmt"
	"net/url"

	"github.com/a-h/templ"
)

// The addresses of pages, in one place; names from people are escaped.

func taskPath(slug string) string { return "/tasks/" + url.PathEscape(slug) }

// TaskURL is the page of a task.
func TaskURL(slug string) templ.SafeURL { return templ.SafeURL(taskPath(slug)) }

// TaskPartURL is a page or action below a task: "edit", "submit", "delete" …
func TaskPartURL(slug, part string) templ.SafeURL { return templ.SafeURL(taskPath(slug) + "/" + part) }

// TaskFileURL downloads one file of a task by its path.
func TaskFileURL(slug, path string) templ.SafeURL {
	return templ.SafeURL(taskPath(slug) + "/file?path=" + url.QueryEscape(path))
}

// TaskTemplateURL downloads one of a task's templates by its label.
func TaskTemplateURL(slug, label string) templ.SafeURL {
	return templ.SafeURL(taskPath(slug) + "/template?label=" + url.QueryEscape(label))
}

// FromTemplateURL is the workbench with one of the task's templates in its editor.
func FromTemplateURL(slug, label string) templ.SafeURL {
	return SolveURL(slug) + templ.SafeURL("?template="+url.QueryEscape(label))
}

// BoardURL is the board of a task on a device.
func BoardURL(slug, device string) templ.SafeURL {
	return templ.SafeURL(taskPath(slug) + "/boards/" + url.PathEscape(device))
}

// SubmissionURL is the page of a submission.
func SubmissionURL(id int64) templ.SafeURL { return templ.SafeURL(fmt.Sprintf("/submissions/%d", id)) }

func sourceURL(id int64) templ.SafeURL { return SubmissionURL(id) + "?tab=source" }

// CommentsURL is the list of comments on a submission, or on a task where that is 0.
func CommentsURL(slug string, submissionID int64) templ.SafeURL {
	if submissionID != 0 {
		return SubmissionURL(submissionID) + "/comments"
	}
	return TaskPartURL(slug, "comments")
}

// CommentURL is the page of one comment.
func CommentURL(id int64) templ.SafeURL { return templ.SafeURL(fmt.Sprintf("/comments/%d", id)) }

// RunURL leads to a run, which stands on the page of its submission.
func RunURL(id int64) templ.SafeURL { return templ.SafeURL(fmt.Sprintf("/runs/%d", id)) }

// SolveURL is the workbench of a task.
func SolveURL(slug string) templ.SafeURL { return TaskPartURL(slug, "solve") }

// resubmitURL is the workbench of a task with the source, devices and remarks of a submission in it.
func resubmitURL(slug string, id int64) templ.SafeURL {
	return SolveURL(slug) + templ.SafeURL(fmt.Sprintf("?from=%d", id))
}

// UserURL is the public page of a person.
func UserURL(id int64) templ.SafeURL { return templ.SafeURL(fmt.Sprintf("/users/%d", id)) }

// SignInURL is the sign-in page, coming back to next afterwards.
func SignInURL(next string) templ.SafeURL {
	if next == "" {
		return "/sign-in"
	}
	return templ.SafeURL("/sign-in?next=" + url.QueryEscape(next))
}

// providerURL begins signing in with a provider.
func providerURL(key, next string) templ.SafeURL {
	u := "/auth/" + url.PathEscape(key)
	if next != "" {
		u += "?next=" + url.QueryEscape(next)
	}
	return templ.SafeURL(u)
}

// ProfileURL is the profile of a run.
func ProfileURL(submissionID, runID int64) templ.SafeURL {
	return templ.SafeURL(fmt.Sprintf("/submissions/%d/runs/%d/profile", submissionID, runID))
}

// PopcornPath is what popcorn-cli's POPCORN_API_URL ends with, behind the site's address.
const PopcornPath = "/popcorn"

// SourceURL is the source of a submission; its lines are #L1, #L2 …
func SourceURL(submissionID int64) templ.SafeURL { return SubmissionURL(submissionID) + "?tab=source" }

// PickURL is the page to choose a run to compare with.
func PickURL(run int64) templ.SafeURL { return templ.SafeURL(fmt.Sprintf("/compare?b=%d", run)) }

// CompareURL lays two runs side by side; it is empty when either is missing.
func CompareURL(a, b int64) templ.SafeURL {
	if a == 0 || b == 0 {
		return ""
	}
	return templ.SafeURL(fmt.Sprintf("/compare?a=%d&b=%d", a, b))
}

// queryText escapes what people typed for an address.
func queryText(text string) string { return url.QueryEscape(text) }
