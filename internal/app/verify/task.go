package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"warpboard/evaluator/harness"
	"warpboard/internal/app/cli/console"
	"warpboard/tasks"
	"warpboard/tasks/parse"
	"warpboard/views/format"
)

const verifyHelp = `Checks tasks in the same way as an upload, then runs their solutions:

  - Each file in solutions/correct must pass a ranked run.
  - Each file in solutions/wrong must fail a ranked run with a wrong answer. A crash or a time limit also counts if
    another solution shows that the task itself works. A solution that does not compile does not count.
  - A reference file in the legacy format runs against itself.
  - Answers that compute nothing (zeros, a copy of an input, the mean) should fail the tests of a Python task. A warning names
    those that pass.

Exits with 1 if a task is refused or does not work, or if a solution ends unexpectedly.

PATH is a task folder, a folder or zip of tasks or problem sets, or one reference file (.cu, .cuh, .cpp, .py).`

// verifyOptions are the flags of `warpboard verify-task`.
type verifyOptions struct {
	machine                      MachineSettings
	processes                    int    // maximum number of processes that measure a score
	sandboxMode                  string // on or off
	device                       string
	lintOnly, asJSON, watchFiles bool
	solutionFiles                []string // files of further solutions that must pass
}

// machineFlags adds the flags for running programs on this machine without a worker.
func (o *verifyOptions) machineFlags(fs *pflag.FlagSet, env console.Environment) {
	fs.StringVar(&o.machine.DataDir, "data", cmp.Or(env.Getenv("WARPBOARD_DATA"), "data"),
		"directory for build outputs")
	fs.IntVar(&o.processes, "ranked-processes", harness.MaxProcesses, "maximum number of fresh processes that measure a score")
	fs.StringVar(&o.sandboxMode, "sandbox", "on", "on; or off, to run the solutions with this user's rights")
	// The default is far enough from the default of workers (60000) for the slots and builds of a machine.
	fs.IntVar(&o.machine.FirstUID, "first-uid", 64000, "first unprivileged user ID for solutions; use a different range than a site or a second verify command on this machine")
	fs.IntVar(&o.machine.BuildNice, "build-nice", 19, "nice value of compilers, 1 to 19; lower it on a machine with other work, where compilers at 19 reach their time limit")
	fs.Func("include-libraries", "header libraries that tasks can use in include_dirs, as name=directory,…",
		o.addIncludeLibrary)
}

func (o *verifyOptions) validate() error {
	if s := o.sandboxMode; s != "on" && s != "off" {
		return fmt.Errorf("--sandbox %q: want on or off", s)
	}
	if uid := o.machine.FirstUID; uid < MinSandboxUID {
		return fmt.Errorf("--first-uid %d: want %d or more, the ids below are the system's own", uid, MinSandboxUID)
	}
	if n := o.processes; n < 1 || n > harness.MaxProcesses {
		return fmt.Errorf("--ranked-processes %d: want 1 to %d", n, harness.MaxProcesses)
	}
	data, err := filepath.Abs(o.machine.DataDir)
	if err != nil {
		return fmt.Errorf("--data %q: %w", o.machine.DataDir, err)
	}
	// Several commands with the same --data share compiled objects, which are written atomically.
	m := &o.machine
	m.DataDir, m.ObjectDir, m.IsSandboxDisabled, m.Log = data, filepath.Join(data, "objects"), o.sandboxMode == "off", slog.New(slog.DiscardHandler)
	return nil
}

// addIncludeLibrary parses the value of --include-libraries.
func (o *verifyOptions) addIncludeLibrary(value string) error {
	o.machine.Libraries = map[string]string{}
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, dir, found := strings.Cut(part, "=")
		if !found {
			return fmt.Errorf("%q: want name=directory", part)
		}
		o.machine.Libraries[name] = dir
	}
	return nil
}

// TaskCommand returns the command `warpboard verify-task`, which checks the tasks at a path and runs their solutions.
func TaskCommand(env console.Environment) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{Use: "verify-task PATH", Long: verifyHelp,
		Short: "check a task (folder, zip, problem set or reference file) and run its solutions"}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("the file or folder is missing: %s", cmd.UseLine())
		case len(args) > 1:
			return fmt.Errorf("got %q beside %q: name one file or folder", args[1], args[0])
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args[0]) }
	cmd.SetFlagErrorFunc(console.NewFlagError)
	fs := cmd.Flags()
	o.machineFlags(fs, env)
	fs.BoolVar(&o.lintOnly, "lint", false, "check only the files, and run nothing")
	fs.StringVar(&o.device, "device", "", "device to run on; default: this machine's first device that fits the task")
	fs.BoolVar(&o.asJSON, "json", false, "print the report as JSON")
	fs.BoolVar(&o.watchFiles, "watch", false, "check again whenever a file of the task or of --solution changes, until interrupted")
	fs.StringArrayVar(&o.solutionFiles, "solution", nil, "another file that must pass, like those in solutions/correct; repeat for several files")
	return cmd
}

func (o *verifyOptions) run(ctx context.Context, env console.Environment, path string) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.lintOnly && len(o.solutionFiles) > 0 {
		return errors.New("--solution is run, and --lint runs nothing: leave one of them out")
	}
	v := &verifier{options: *o, env: env, path: path, lineOutput: env.Stdout}
	if o.asJSON {
		v.lineOutput = io.Discard
	}
	if o.watchFiles {
		return v.watchAndCheck(ctx)
	}
	return v.checkOnce(ctx)
}

// checkOnce checks all tasks once and reports the results.
func (v *verifier) checkOnce(ctx context.Context) error {
	// With --watch, the worker and compiled objects are kept between rounds; each round has a new report.
	v.report, v.problemCounts = verifyReport{Path: v.path, Tasks: []*taskReport{}}, problemCounts{}
	err := v.verifyTasks(ctx)
	if !v.options.asJSON {
		return err
	}
	if v.report.OK = err == nil; err != nil {
		v.report.Error = err.Error()
	}
	return errors.Join(err, console.PrintJSON(v.env.Stdout, v.report))
}

// openTasks reads the tasks at a path. The caller must close the upload.
func openTasks(path string) (*tasks.Upload, []tasks.TaskProposal, error) {
	upload, err := tasks.OpenPath(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	proposals, err := upload.Proposals(time.Now())
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), upload.Close())
	}
	return upload, proposals, nil
}

func (v *verifier) verifyTasks(ctx context.Context) error {
	upload, proposals, err := openTasks(v.path)
	if wrong := parse.ProblemsFromError(err); len(wrong) > 0 {
		v.report.Problems = v.printProblems("", wrong)
		return fmt.Errorf("%s cannot be used: fix %s", v.path, format.Plural(len(wrong), "mistake", "mistakes"))
	}
	if err != nil {
		return err
	}
	defer upload.Close()
	if len(v.options.solutionFiles) > 0 && len(proposals) != 1 {
		return fmt.Errorf("--solution is for one task, and %s has %d: name that task's folder", v.path, len(proposals))
	}
	for _, p := range proposals {
		if err := v.verifyTask(ctx, upload, p); err != nil {
			return err
		}
	}
	return v.verdictError(len(proposals))
}
