package app

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const checkConfigHelp = `usage: warpboard check-config [serve|work] [flags]

Prints the settings that warpboard serve (or work) would use, and where each comes from: a flag, an environment variable,
the settings file, or the default. Secrets are not printed. If the command cannot start with these settings, check-config
lists the problems and exits with 1. It takes the same flags as the command: see warpboard serve --help and warpboard work --help.

  warpboard check-config --config /etc/warpboard.toml
  warpboard check-config work --nats-url tls://boards.example.org:4222
`

// checkConfigCommand returns the command that checks the settings of serve; its subcommands check those of serve or
// work.
func checkConfigCommand(env Environment) *cobra.Command {
	cmd := checkConfigSubcommand(env, "check-config", "serve")
	cmd.Short = "print the settings that serve (or work) would use, where each comes from, and any errors"
	cmd.AddCommand(checkConfigSubcommand(env, "serve", "serve"), checkConfigSubcommand(env, "work", "work"))
	cmd.SetHelpFunc(func(*cobra.Command, []string) { fmt.Fprint(env.Stdout, checkConfigHelp) })
	return cmd
}

func checkConfigSubcommand(env Environment, name, command string) *cobra.Command {
	cmd, cfg := &cobra.Command{Use: name, Short: "print the settings of " + command}, &Config{}
	declareSettings(cmd.Flags(), command, cfg)
	deferFlagErrors(cmd, func(wrong error) error { return cfg.printSettings(env, command, cmd.Flags(), wrong) })
	return cmd
}

// printSettings reads the settings as serve or work would, and prints each setting with its source. Secrets are hidden.
// The error has all invalid settings.
func (c *Config) printSettings(env Environment, command string, fs *pflag.FlagSet, wrong error) error {
	// The table is printed even for invalid settings, because the source of a value helps to correct it. Files in
	// settings are opened, but no database and no port.
	from, err := c.readSettings(command, fs, env.Getenv, wrong)
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	visitSettingFlags(fs, func(f *pflag.Flag) {
		origin := from[f.Name]
		if origin == "" {
			origin = "default"
		}
		fmt.Fprintf(table, "--%s\t%s\t%s\n", f.Name, displayValue(f.Name, f.Value.String()), origin)
	})
	if flushed := table.Flush(); flushed != nil {
		return flushed
	}
	if err != nil {
		return fmt.Errorf("warpboard %s cannot start with these settings:\n%w", command, err)
	}
	fmt.Fprintf(env.Stdout, "\nwarpboard %s can start with these settings.\n", command)
	return nil
}
