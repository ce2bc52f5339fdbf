package cli

import (
	"strconv"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
)

// parseSubmissionID parses a submission's number.
func parseSubmissionID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, console.NewUsageError("%q is not the number of a submission (warpboard runs lists yours)", text)
	}
	return id, nil
}

// siteOfSubmission returns the client and the number of a submission for a command about it.
func (c *connection) siteOfSubmission(text string) (*client.Client, int64, error) {
	id, err := parseSubmissionID(text)
	if err != nil {
		return nil, 0, err
	}
	site, err := c.site()
	return site, id, err
}
