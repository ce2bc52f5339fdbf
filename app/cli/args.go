package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// exactly refuses another number of arguments than the names say.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return Usage("%s takes %d arguments (%s), not %d", cmd.Name(), len(names), strings.Join(names, ", "), len(args))
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

// number reads a submission's or a run's number.
func number(what, text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, Usage("%q is not a %s's number", text, what)
	}
	return id, nil
}
