package views

import (
	"fmt"

	"github.com/a-h/templ"
)

// ProfileURL is the profile of a run.
func ProfileURL(submissionID, runID int64) templ.SafeURL {
	return templ.SafeURL(fmt.Sprintf("/submissions/%d/runs/%d/profile", submissionID, runID))
}

// SourceURL is the source of a submission; its lines are #L1, #L2 …
func SourceURL(submissionID int64) templ.SafeURL { return SubmissionURL(submissionID) + "?tab=source" }

// CompareURL lays two runs side by side; it is empty when either is missing.
func CompareURL(a, b int64) templ.SafeURL {
	if a == 0 || b == 0 {
		return ""
	}
	return templ.SafeURL(fmt.Sprintf("/compare?a=%d&b=%d", a, b))
}
