package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"warpboard/evaluator/harness"
	"warpboard/internal/app/cli"
	"warpboard/internal/app/cli/console"
	"warpboard/internal/app/verify"
)

// Environment has the files, variables, and streams that a command uses.
type Environment = console.Environment

// commands returns the commands that run or check something on this machine. Package cli has the commands that call a
// site.
func commands(env Environment) []*cobra.Command {
	return []*cobra.Command{
		settingsCommand(env, "serve", "serve the site and evaluate on this machine", runServe),
		settingsCommand(env, "work", "evaluate for a site on another machine", runWork),
		settingsCommand(env, "migrate", "bring the database to this version and rebuild derived tables", runMigrate),
		tokenCommand(env),
		verify.TaskCommand(env),
		verify.ImportCommand(env),
		checkConfigCommand(env),
		versionCommand(env),
	}
}

func refuseArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return console.NewUsageError("%s takes no argument, such as %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// Main runs the command line of this process and exits.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// stop restores the default handling of signals: a second signal ends the process at once, as a crash would. The
	// jobs in progress are lost and are retried.
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	env := Environment{
		Getenv:  os.Getenv,
		Stdin:   os.Stdin,
		Version: programVersion(),
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
	}
	for _, name := range unknownSettingVariables(os.Environ()) {
		fmt.Fprintf(env.Stderr, "warpboard: the environment variable %s is not a warpboard setting\n", name)
	}
	err := Run(ctx, env, os.Args[1:])
	stop()
	if err != nil {
		console.PrintError(env.Stderr, os.Args[1:], err)
		os.Exit(console.ExitCode(err))
	}
}

// Run executes one command line. It returns when the command has ended or ctx is done.
func Run(ctx context.Context, env Environment, args []string) error {
	if len(args) > 0 && slices.Contains([]string{"-version", "--version"}, args[0]) {
		args = append([]string{"version"}, args[1:]...)
	}
	out := console.NewOutput(env.Stdout)
	env.Stdout = out
	root := rootCommand(env)
	root.SetArgs(rewriteSingleHyphens(root, args))
	if err := root.ExecuteContext(ctx); err != nil {
		return err
	}
	return out.Err()
}

// rewriteSingleHyphens replaces -addr by --addr in the arguments of local commands, whose only one-letter flag is -h:
// unit files and scripts may have the syntax of package flag. Values are not changed, because a secret may begin with a
// hyphen.
func rewriteSingleHyphens(root *cobra.Command, args []string) []string {
	args = append([]string{}, args...) // never nil, for which cobra would use the arguments of the process
	cmd, _, err := root.Find(args)
	if err != nil || !isLocalCommand(cmd) {
		return args
	}
	isValue := false // this argument is the value of the flag before it
	for i, arg := range args {
		if arg == "--" && !isValue {
			break
		}
		if isValue {
			isValue = false
			continue
		}
		if len(arg) > 2 && arg[0] == '-' && arg[1] >= 'a' && arg[1] <= 'z' {
			args[i] = "-" + arg
		}
		name, isFlag := strings.CutPrefix(args[i], "--")
		flag := cmd.Flags().Lookup(name) // nil for "--name=value", which is one argument
		isValue = isFlag && flag != nil && flag.NoOptDefVal == ""
	}
	return args
}

// isLocalCommand reports whether a command, or a parent of it, acts on this machine.
func isLocalCommand(cmd *cobra.Command) bool {
	return cmd != nil && (cmd.GroupID == "machine" || isLocalCommand(cmd.Parent()))
}

// rootCommand returns the root command with all commands.
func rootCommand(env Environment) *cobra.Command {
	root := console.CommandGroup(&cobra.Command{
		Use: "warpboard", Short: "Warpboard is a self-hosted leaderboard for GPU kernels.", Long: "Warpboard is a self-hosted leaderboard for GPU kernels.\n\n" + console.ExitHelp,
		SilenceErrors: true, SilenceUsage: true,
	})
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return console.NewUsageError("%w", console.NewFlagError(cmd, err))
	})
	root.AddGroup(&cobra.Group{ID: "site", Title: "With a site:"}, &cobra.Group{
		ID:    "machine",
		Title: "On this machine:",
	})
	for _, cmd := range append(cli.Commands(env), cli.AgentCommands(env, programVersion())...) {
		cmd.GroupID = "site"
		root.AddCommand(cmd)
	}
	for _, cmd := range commands(env) {
		cmd.GroupID = "machine"
		root.AddCommand(cmd)
	}
	refuseUnknownArguments(root)
	return root
}

// refuseUnknownArguments makes the commands that cobra adds refuse unknown arguments. They would otherwise print
// something and exit with 0.
func refuseUnknownArguments(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			console.CommandGroup(cmd)
			for _, shell := range cmd.Commands() {
				shell.Args = console.ExactArgs()
			}
		case "help":
			cmd.Run, cmd.RunE = nil, func(_ *cobra.Command, words []string) error {
				about, rest, err := root.Find(words)
				if err != nil || len(rest) > 0 {
					return console.NewUsageError("there is no command warpboard %s (warpboard --help lists them)", strings.Join(words, " "))
				}
				return about.Help()
			}
		}
	}
}

// programVersion returns the module version and the commit of the binary.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		// A binary built without version control, as in a container, has only the version "(devel)". The version of a
		// commit without a tag ends with the commit.
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && !strings.Contains(v, s.Value[:12]) {
			v += " " + s.Value[:12]
		}
	}
	return v
}

func versionCommand(env Environment) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{Use: "version", Short: "print the versions of the program and of the harness", Args: refuseArguments, RunE: func(*cobra.Command, []string) error {
		if asJSON {
			return json.NewEncoder(env.Stdout).Encode(map[string]string{"version": programVersion(), "harness": harness.Digest()})
		}
		_, err := fmt.Fprintf(env.Stdout, "warpboard %s\nharness %s\n", programVersion(), harness.Digest())
		return err
	}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
