package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"warpboard/web/client"
)

// exactly refuses another number of arguments than the names say.
// Mistakes are Usage errors (exit 2); cobra's own validators would end with 1.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return Usage("%s takes %d arguments (%s), not %d", cmd.Name(), len(names), strings.Join(names, ", "), len(args))
		}
		return nil
	}
}

// atLeast refuses fewer arguments than these.
func atLeast(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return Usage("%s takes at least %d arguments (%s), not %d", cmd.Name(), len(names), strings.Join(names, ", "), len(args))
		}
		return nil
	}
}

// atMost refuses more arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return Usage("%s takes at most %d arguments, not %d", cmd.Name(), n, len(args))
		}
		return nil
	}
}

// submissionID reads a submission's number.
func submissionID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, Usage("%q is not a submission's number", text)
	}
	return id, nil
}

// siteFor is the way to the site of a command about one submission, and the submission's number.
func (c *connection) siteFor(text string) (*client.Client, int64, error) {
	id, err := submissionID(text)
	if err != nil {
		return nil, 0, err
	}
	site, err := c.site()
	return site, id, err
}
