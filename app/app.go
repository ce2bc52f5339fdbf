package app

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"warpboard/app/cli"
	"warpboard/app/verify"
	"warpboard/evaluator/harness"
)

// command is one word after `warpboard`.
type command struct {
	name, about string
	run         func(ctx context.Context, env Environment, args []string) error
}

// Environment is what a command may use of the outside world.
type Environment = cli.Environment

// commands are those that run or check something on this machine. Those that talk to a site are cli's.
func commands() []command {
	return []command{
		{"serve", "serve the site and evaluate on this machine", serve},
		{"work", "evaluate for a site on another machine", work},
		{"migrate", "bring the database to this version and rebuild derived tables", migrate},
		{"token", "make a personal API token for a user", makeToken},
		{"verify-chain", "check that an exported chain of results is whole and signed", verify.Chain},
		{"verify-result", "check what a site states of a run, and measure it again on this machine", verify.Result},
		{"verify-task", "check a task (folder, zip, problem set or reference file) and run its solutions", verify.Task},
		{"check-config", "print the settings that serve (or work) would use, each with where it is from, and what is wrong with them", checkConfig},
		{"version", "print the version, and that of the harness", printVersion},
	}
}

// Main carries out the command line of this process and ends it.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// stop gives the signals back to their defaults. What a second one leaves is what a crash leaves: jobs in flight are
	// lost, and their work is tried again.
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	env := Environment{Getenv: os.Getenv, Stdin: os.Stdin, Version: version(), Stdout: os.Stdout, Stderr: os.Stderr}
	for _, name := range unknownVariables(os.Environ()) {
		fmt.Fprintf(env.Stderr, "warpboard: the environment variable %s is not a warpboard setting\n", name)
	}
	err := Run(ctx, env, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		cli.Complain(env.Stderr, os.Args[1:], err)
		os.Exit(cli.ExitCode(err))
	}
}

// Run carries out one command line; it returns when the command is done or ctx ends.
func Run(ctx context.Context, env Environment, args []string) error {
	if len(args) > 0 && slices.Contains([]string{"-version", "--version"}, args[0]) {
		args = append([]string{"version"}, args[1:]...)
	}
	root := rootCommand(env)
	root.SetArgs(append([]string{}, args...)) // nil would be the process's own
	return root.ExecuteContext(ctx)
}

// rootCommand has every command. Those of this machine read their flags themselves.
func rootCommand(env Environment) *cobra.Command {
	root := cli.Group(&cobra.Command{
		Use: "warpboard", Short: "Warpboard is a self-hosted leaderboard for GPU kernels.", Long: "Warpboard is a self-hosted leaderboard for GPU kernels.\n\n" + cli.ExitHelp,
		SilenceErrors: true, SilenceUsage: true,
	})
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.FlagError(cmd.CommandPath(), err)
	})
	root.AddGroup(&cobra.Group{ID: "site", Title: "With a site:"}, &cobra.Group{ID: "machine", Title: "On this machine:"})
	for _, cmd := range append(cli.Commands(env), cli.AgentCommands(env, version())...) {
		cmd.GroupID = "site"
		root.AddCommand(cmd)
	}
	for _, c := range commands() {
		// Their flags are read by package flag, which settings.go needs (Visit tells which were given); cobra would read
		// them first.
		root.AddCommand(&cobra.Command{Use: c.name, Short: c.about, GroupID: "machine", DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), env, args) }})
	}
	ownHelp(root)
	return root
}

// ownHelp has the commands that cobra adds refuse words that they do not know: they would print something and end with 0.
func ownHelp(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cli.Group(cmd)
		case "help":
			cmd.Run, cmd.RunE = nil, func(_ *cobra.Command, words []string) error {
				about, rest, err := root.Find(words)
				if err != nil || len(rest) > 0 {
					return cli.Usage("there is no command warpboard %s (warpboard --help lists them)", strings.Join(words, " "))
				}
				return about.Help()
			}
		}
	}
}

// version is the module version and commit that Go recorded in the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		// A binary that was built without version control, as in a container, has no commit, and says only "(devel)".
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v += " " + s.Value[:12]
		}
	}
	return v
}

func printVersion(_ context.Context, env Environment, args []string) error {
	if slices.Equal(args, []string{"--json"}) || slices.Equal(args, []string{"-json"}) {
		return json.NewEncoder(env.Stdout).Encode(map[string]string{"version": version(), "harness": harness.Digest()})
	}
	if len(args) > 0 {
		return cli.Usage("warpboard version takes no argument, such as %q", args[0])
	}
	fmt.Fprintf(env.Stdout, "warpboard %s\nharness %s\n", version(), harness.Digest())
	return nil
}
