package console

import (
	"strings"

	"github.com/spf13/cobra"
)

// Exactly requires exactly one argument per name. Mistakes are Usage errors (exit 2); cobra's own validators would exit
// with 1.
func Exactly(names ...string) cobra.PositionalArgs { return Between(len(names), names...) }

// AtLeast requires at least one argument per name.
func AtLeast(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return missing(cmd, names[len(args):])
		}
		return nil
	}
}

// Between requires at least least arguments, and at most one per name.
func Between(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return missing(cmd, names[len(args):least])
		case len(args) > len(names) && len(names) == 0:
			return Usage("%s takes no argument, such as %q (%s --help)", cmd.CommandPath(), args[0], cmd.CommandPath())
		case len(args) > len(names):
			return Usage("%s takes nothing after %s, such as %q (%s --help)", cmd.CommandPath(), strings.Join(names, " "), args[len(names)], cmd.CommandPath())
		}
		return nil
	}
}

func missing(cmd *cobra.Command, names []string) error {
	return Usage("%s is missing: %s", strings.Join(names, " and "), cmd.UseLine())
}

// Group returns a command with subcommands: alone it prints its help, and an unknown word is an error.
func Group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return Usage("there is no command %s %s: did you mean %s?", cmd.CommandPath(), args[0], near[0])
		}
		return Usage("there is no command %s %s (%s --help lists them)", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return cmd
}
