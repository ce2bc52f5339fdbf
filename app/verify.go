package app

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/views/format"
)

const verifyHelp = `usage: warpboard verify-task PATH [flags]

Checks tasks as an upload would, then runs the solutions that they bring: each file in
solutions/correct must pass a ranked run, each in solutions/wrong must fail one: with a wrong answer, or
in any way if another solution shows that the task itself works. A reference file in the legacy
format is run against itself. Exits with 1 if a task is refused or a solution ends unexpectedly.

PATH is a task folder, a folder or zip of tasks or problem sets, or one reference file
(.cu, .cuh, .cpp, .py).

`

// verifyOptions are the flags of `warpboard verify-task`.
type verifyOptions struct {
	cfg    Config
	device string
	lint   bool
}

func (o *verifyOptions) flags(env Environment) *flag.FlagSet {
	fs := o.machineFlags("verify-task", env)
	fs.BoolVar(&o.lint, "lint", false, "only check, run nothing")
	fs.StringVar(&o.device, "device", "", "device to run on; default: the first of this machine that suits the task")
	fs.Usage = func() {
		fmt.Fprint(env.Stderr, verifyHelp)
		fs.PrintDefaults()
	}
	return fs
}

// machineFlags say how programs are run on this machine by a command that is no worker.
func (o *verifyOptions) machineFlags(command string, env Environment) *flag.FlagSet {
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.SetOutput(env.Stderr)
	fs.StringVar(&o.cfg.Data, "data", cmp.Or(env.Getenv(envName("data")), "data"), "directory for what is built")
	fs.IntVar(&o.cfg.Worker.Processes, "ranked-processes", harness.MostProcesses, "fresh processes that a score is measured in, at the most")
	fs.StringVar(&o.cfg.Worker.Sandbox, "sandbox", "on", "on, or off to run the solutions with this user's rights")
	fs.IntVar(&o.cfg.Worker.FirstUID, "first-uid", 64000, "first of the unprivileged user ids that solutions run under; a site on this machine has others")
	fs.Var(&o.cfg.Worker.Include, "include-libraries", "header libraries that tasks may name in include_dirs, as name=directory,…")
	return fs
}

func (o *verifyOptions) validate() error {
	if s := o.cfg.Worker.Sandbox; s != "on" && s != "off" {
		return fmt.Errorf("--sandbox %q: want on or off", s)
	}
	if uid := o.cfg.Worker.FirstUID; uid < leastUID {
		return fmt.Errorf("--first-uid %d: want %d or more, the ids below are the system's own", uid, leastUID)
	}
	if n := o.cfg.Worker.Processes; n < 1 || n > harness.MostProcesses {
		return fmt.Errorf("--ranked-processes %d: want 1 to %d", n, harness.MostProcesses)
	}
	for _, lib := range o.cfg.Worker.Include {
		if !strings.Contains(lib, "=") {
			return fmt.Errorf("--include-libraries %q: want name=directory", lib)
		}
	}
	o.cfg.fillIn()
	return nil
}

// verifyTask checks the tasks at a path and runs the solutions that they bring.
func verifyTask(ctx context.Context, env Environment, args []string) error {
	var o verifyOptions
	fs := o.flags(env)
	path, err := parseWithFile(fs, args)
	if err != nil {
		return err
	}
	if err := o.validate(); err != nil {
		return err
	}
	upload, err := tasks.OpenPath(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer upload.Close()
	proposals, err := upload.Proposals(time.Now())
	if problems := tasks.ProblemsIn(err); len(problems) > 0 {
		printProblems(env, "", problems)
		return fmt.Errorf("%s cannot be used: fix %s", path, format.Plural(len(problems), "mistake", "mistakes"))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	v := &verifier{options: o, env: env, upload: upload}
	for _, p := range proposals {
		if err := v.task(ctx, p); err != nil {
			return err
		}
	}
	return v.verdict(len(proposals))
}

func printProblems(env Environment, indent string, problems []tasks.Problem) {
	for _, p := range problems {
		fmt.Fprintln(env.Stdout, indent+p.Error())
	}
}

// describe prints a task in one line, and below it what its author should know.
func describe(env Environment, p tasks.Proposal) {
	d := p.Bundle.Definition
	facts := []string{views.LangName(d.Lang)}
	if d.Form == tasks.FormLegacy {
		facts = append(facts, "legacy format")
	} else {
		facts = append(facts, format.Plural(len(d.Tests), "test", "tests"), format.Plural(len(d.Benchmarks), "benchmark", "benchmarks"),
			"ranked by "+string(d.RankingBy), views.HarnessPhrase(d))
	}
	if len(p.GPUs) > 0 {
		facts = append(facts, "on "+strings.Join(p.GPUs, " and "))
	}
	if !p.Deadline.IsZero() {
		facts = append(facts, "until "+p.Deadline.Format("2006-01-02 15:04")+" UTC")
	}
	fmt.Fprintf(env.Stdout, "%s: %s\n", p.Name, strings.Join(facts, ", "))
	for _, w := range append(p.Notes, p.Bundle.Warnings...) {
		fmt.Fprintln(env.Stdout, "  warning:", w)
	}
}
