package views

import (
	"fmt"
	"net/url"

	"github.com/a-h/templ"
)

// Addresses of pages; names that people choose are escaped.

func taskPath(slug string) string { return "/tasks/" + url.PathEscape(slug) }

// TaskURL returns the address of a task's page.
func TaskURL(slug string) templ.SafeURL { return templ.SafeURL(taskPath(slug)) }

// TaskPartURL returns the address of a page or action below a task: "edit", "submit", "delete" …
func TaskPartURL(slug, part string) templ.SafeURL { return templ.SafeURL(taskPath(slug) + "/" + part) }

// TaskFileURL returns the address for downloading one file of a task by its path.
func TaskFileURL(slug, path string) templ.SafeURL {
	return templ.SafeURL(taskPath(slug) + "/file?path=" + url.QueryEscape(path))
}

// TaskTemplateURL returns the address for downloading one of a task's templates by its label.
func TaskTemplateURL(slug, label string) templ.SafeURL {
	return templ.SafeURL(taskPath(slug) + "/template?label=" + url.QueryEscape(label))
}

// FromTemplateURL returns the address of the workbench with a template of the task in its editor.
func FromTemplateURL(slug, label string) templ.SafeURL {
	return WorkbenchURL(slug) + templ.SafeURL("?template="+url.QueryEscape(label))
}

// BoardURL returns the address of a task's board on a device.
func BoardURL(slug, device string) templ.SafeURL {
	return templ.SafeURL(taskPath(slug) + "/boards/" + url.PathEscape(device))
}

// SubmissionURL returns the address of a submission's page.
func SubmissionURL(id int64) templ.SafeURL { return templ.SafeURL(fmt.Sprintf("/submissions/%d", id)) }

// CommentsURL returns the address of the comments on a submission, or on a task if submissionID is 0.
func CommentsURL(slug string, submissionID int64) templ.SafeURL {
	if submissionID != 0 {
		return SubmissionURL(submissionID) + "/comments"
	}
	return TaskPartURL(slug, "comments")
}

// CommentURL returns the address of one comment's page.
func CommentURL(id int64) templ.SafeURL { return templ.SafeURL(fmt.Sprintf("/comments/%d", id)) }

// RunURL returns the address of a run, which redirects to its submission's page.
func RunURL(id int64) templ.SafeURL { return templ.SafeURL(fmt.Sprintf("/runs/%d", id)) }

// WorkbenchURL returns the address of a task's workbench.
func WorkbenchURL(slug string) templ.SafeURL { return TaskPartURL(slug, "solve") }

// resubmitURL returns the address of a task's workbench with a submission's source, devices, and remarks.
func resubmitURL(slug string, id int64) templ.SafeURL {
	return WorkbenchURL(slug) + templ.SafeURL(fmt.Sprintf("?from=%d", id))
}

// UserURL returns the address of a person's public page.
func UserURL(id int64) templ.SafeURL { return templ.SafeURL(fmt.Sprintf("/users/%d", id)) }

// SignInURL returns the address of the sign-in page, which redirects to next after signing in.
func SignInURL(next string) templ.SafeURL {
	if next == "" {
		return "/sign-in"
	}
	return templ.SafeURL("/sign-in?next=" + url.QueryEscape(next))
}

// providerURL returns the address for signing in with a provider.
func providerURL(key, next string) templ.SafeURL {
	u := "/auth/" + url.PathEscape(key)
	if next != "" {
		u += "?next=" + url.QueryEscape(next)
	}
	return templ.SafeURL(u)
}

// ProfileURL returns the address of a run's profile.
func ProfileURL(submissionID, runID int64) templ.SafeURL {
	return templ.SafeURL(fmt.Sprintf("/submissions/%d/runs/%d/profile", submissionID, runID))
}

// PopcornPath is the path that popcorn-cli has after the address of the site in POPCORN_API_URL.
const PopcornPath = "/popcorn"

// SourceURL returns the address of a submission's source; its lines are #L1, #L2 …
func SourceURL(submissionID int64) templ.SafeURL { return SubmissionURL(submissionID) + "?tab=source" }

// PickRunURL returns the address of the page for choosing a run to compare with.
func PickRunURL(run int64) templ.SafeURL { return templ.SafeURL(fmt.Sprintf("/compare?b=%d", run)) }

// CompareURL returns the address of the comparison of two runs; "" if one of the numbers is 0.
func CompareURL(a, b int64) templ.SafeURL {
	if a == 0 || b == 0 {
		return ""
	}
	return templ.SafeURL(fmt.Sprintf("/compare?a=%d&b=%d", a, b))
}

// escapeQuery escapes user input for an address.
func escapeQuery(text string) string { return url.QueryEscape(text) }
