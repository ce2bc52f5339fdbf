package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"warpboard/internal/app/cli/console"
)

// settingsCommand returns a command whose flags are settings. more declares flags that only this command has.
func settingsCommand(
	env Environment, name, about string, run func(context.Context, Environment, *Config) error,
	more ...func(*pflag.FlagSet),
) *cobra.Command {
	cmd, cfg := &cobra.Command{Use: name, Short: about}, &Config{}
	declareSettings(cmd.Flags(), name, cfg)
	for _, declare := range more {
		declare(cmd.Flags())
	}
	deferFlagErrors(cmd, func(wrong error) error {
		if _, err := cfg.readSettings(name, cmd.Flags(), env.Getenv, wrong); err != nil {
			return err
		}
		return run(cmd.Context(), env, cfg)
	})
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printUsage(cmd.Flags(), name, env.Stdout) })
	return cmd
}

// deferFlagErrors makes a command run even with invalid flags, and passes their errors to run, so that one start
// reports all mistakes.
func deferFlagErrors(cmd *cobra.Command, run func(wrong error) error) {
	cmd.Args = cobra.ArbitraryArgs // accept all arguments here: readSettings refuses them
	cmd.RunE = func(*cobra.Command, []string) error { return run(nil) }
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return run(console.NewFlagError(cmd, err)) })
}

// readSettings sets the configuration of fs from, in this order of precedence: flags, environment, settings file,
// default values. Then it validates all settings. wrong is the error of parsing the flags. A flag that cannot be parsed
// keeps its default value, which may cause an additional error.
func (c *Config) readSettings(
	command string, fs *pflag.FlagSet, getenv func(string) string, wrong error,
) (settingSourceNames, error) {
	var all []error
	switch {
	case wrong != nil:
		all = append(all, wrong)
	case fs.NArg() > 0:
		all = append(all, fmt.Errorf("%s takes no argument %q; see warpboard %s --help", command, fs.Arg(0), command))
	}
	path := cmp.Or(c.SettingsFile, getenv(envName(settingsFileFlag)))
	file, err := readSettingsFile(path)
	if err != nil {
		all = append(all, err)
	}
	from, unset := settingSources{getenv, path, file}.fillFlags(fs)
	c.fillDerivedSettings()
	return from, errors.Join(slices.Concat(all, unset, c.validate(command))...)
}

func printUsage(fs *pflag.FlagSet, command string, out io.Writer) {
	fmt.Fprintf(out, "usage: warpboard %s [flags]\n\nYou can also set each flag with the environment variable beside it, or with a line in the settings file (--config).\nThe variable with _FILE appended names a file with the value.\n\n", command)
	visitSettingFlags(fs, func(f *pflag.Flag) {
		about := f.Usage
		if f.DefValue != "" {
			about += fmt.Sprintf(" (default: %s)", f.DefValue)
		}
		fmt.Fprintf(out, "  --%s   %s\n      %s\n", f.Name, envName(f.Name), about)
	})
}

// visitSettingFlags visits the flags except --help, which cobra adds.
func visitSettingFlags(fs *pflag.FlagSet, visit func(*pflag.Flag)) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			visit(f)
		}
	})
}
