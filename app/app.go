package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"warpboard/evaluator/harness"
)

// command is one word after `warpboard`.
type command struct {
	name, about string
	run         func(ctx context.Context, env Environment, args []string) error
}

// Environment is what a command may use of the outside world.
type Environment struct {
	Getenv         func(string) string
	Stdout, Stderr io.Writer
}

func commands() []command {
	all := []command{
		{"serve", "serve the site and evaluate on this machine", serve},
		{"work", "evaluate for a site on another machine", work},
		{"migrate", "bring the database to this version and rebuild derived tables", migrate},
		{"token", "make a personal API token for a user", makeToken},
		{"submit", "submit a kernel to a site and watch it", submit},
	}
	for _, q := range queries() {
		all = append(all, q.command())
	}
	return append(all, []command{
		{"mcp", "offer a site to agents: Model Context Protocol on stdin and stdout", serveMCP},
		{"verify-task", "check a task (folder, zip, problem set or reference file) and run its solutions", verifyTask},
		{"check-config", "print the settings that serve (or work) would use, each with where it is from, and what is wrong with them", checkConfig},
		{"version", "print the version, and that of the harness", printVersion},
	}...)
}

// Main carries out the command line of this process and ends it.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	env := Environment{Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr}
	for _, name := range unknownVariables(os.Environ()) {
		fmt.Fprintf(env.Stderr, "warpboard: the environment variable %s is not a warpboard setting\n", name)
	}
	err := Run(ctx, env, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "warpboard:", err)
		os.Exit(1)
	}
}

// Run carries out one command line; it returns when the command is done or ctx ends.
func Run(ctx context.Context, env Environment, args []string) error {
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "--help"}, args[0]) {
		help(env.Stdout)
		return nil
	}
	name := args[0]
	if slices.Contains([]string{"-version", "--version"}, name) {
		name = "version"
	}
	for _, c := range commands() {
		if c.name == name {
			return c.run(ctx, env, args[1:])
		}
	}
	help(env.Stderr)
	return fmt.Errorf("there is no command %q", name)
}

func help(out io.Writer) {
	fmt.Fprintf(out, "Warpboard is a self-hosted leaderboard for GPU kernels.\n\nusage: warpboard COMMAND [flags]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(out, "  %-12s %s\n", c.name, c.about)
	}
	fmt.Fprintf(out, "\nwarpboard COMMAND --help prints the flags of a command.\n")
}

// version is the module version and commit that Go recorded in the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v += " " + s.Value[:12]
		}
	}
	return v
}

func printVersion(_ context.Context, env Environment, _ []string) error {
	fmt.Fprintf(env.Stdout, "warpboard %s\nharness %s\n", version(), harness.Digest())
	return nil
}
