package console

import (
	"strings"

	"github.com/spf13/cobra"
)

// ExactArgs requires exactly one argument per name. It returns errors of NewUsageError (exit code 2); the validators of
// cobra would exit with 1.
func ExactArgs(names ...string) cobra.PositionalArgs { return BetweenArgs(len(names), names...) }

// AtLeastArgs requires at least one argument per name.
func AtLeastArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return missingArguments(cmd, names[len(args):])
		}
		return nil
	}
}

// BetweenArgs requires at least the first arguments in names, as many as least, and at most all of them.
func BetweenArgs(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return missingArguments(cmd, names[len(args):least])
		case len(args) > len(names) && len(names) == 0:
			return NewUsageError("%s takes no argument, such as %q (%s --help)", cmd.CommandPath(), args[0], cmd.CommandPath())
		case len(args) > len(names):
			return NewUsageError("%s takes nothing after %s, such as %q (%s --help)", cmd.CommandPath(), strings.Join(names, " "), args[len(names)], cmd.CommandPath())
		}
		return nil
	}
}

func missingArguments(cmd *cobra.Command, names []string) error {
	return NewUsageError("%s is missing: %s", strings.Join(names, " and "), cmd.UseLine())
}

// CommandGroup returns a command with subcommands. Without a subcommand it prints its help, and an unknown one is an
// error.
func CommandGroup(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return NewUsageError("there is no command %s %s: did you mean %s?", cmd.CommandPath(), args[0], near[0])
		}
		return NewUsageError("there is no command %s %s (%s --help lists them)", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return cmd
}
