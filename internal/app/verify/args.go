package verify

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"warpboard/internal/app/cli/console"
)

// command is a command about one file or folder. A mistake in its command line ends with 1: verify-result and verify-chain
// have another meaning for 2.
func command(use, about, help string, run func(cmd *cobra.Command, path string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: about, Long: help, Args: oneFile}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd, args[0]) }
	cmd.SetFlagErrorFunc(console.FlagError)
	return cmd
}

func oneFile(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return fmt.Errorf("the file or folder is missing: %s", cmd.UseLine())
	case len(args) > 1:
		return fmt.Errorf("got %q beside %q: name one file or folder", args[1], args[0])
	}
	return nil
}

// ns shows nanoseconds as a duration, to the hundredth of a microsecond.
func ns(v float64) time.Duration { return time.Duration(v).Round(10 * time.Nanosecond) }
