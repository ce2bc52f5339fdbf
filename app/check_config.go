package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"text/tabwriter"
)

const checkConfigHelp = `usage: warpboard check-config [serve|work] [flags]

Prints the settings that warpboard serve (or work) would use with these flags, environment variables and settings file, and where
each is from: a flag, a variable, the file or the default. Secrets are not printed. Ends with 1 and says what is wrong if it could not
start with them. The flags are those of the command: warpboard serve --help and warpboard work --help list them.

  warpboard check-config --config /etc/warpboard.toml
  warpboard check-config work --nats-url tls://boards.example.org:4222
`

// checkConfig reads the settings as serve or work would and prints them, each with where it is from. Secrets are
// hidden. Its error says everything that cannot work.
func checkConfig(_ context.Context, env Environment, args []string) error {
	command := "serve"
	if len(args) > 0 && (args[0] == "serve" || args[0] == "work") {
		command, args = args[0], args[1:]
	}
	if slices.ContainsFunc(args, func(arg string) bool { return slices.Contains([]string{"-h", "-help", "--help"}, arg) }) {
		fmt.Fprint(env.Stdout, checkConfigHelp)
		return flag.ErrHelp
	}
	cfg := &Config{}
	fs := newFlags(command, cfg)
	// The table is printed also when something is wrong: where a value is from is what one wants to know then. It opens
	// no file but those that settings name, no database and no port.
	from, err := cfg.read(command, fs, args, env.Getenv, env.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fs.VisitAll(func(f *flag.Flag) {
		origin := from[f.Name]
		if origin == "" {
			origin = "default"
		}
		fmt.Fprintf(table, "--%s\t%s\t%s\n", f.Name, shown(f.Name, f.Value.String()), origin)
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
