package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/app/cli/console"
	"warpboard/tasks"
	"warpboard/tasks/parse"
)

const ciHelp = `Run the kernels of a repository, and compare them with a base.

Each [[kernel]] entry of warpboard.toml names a kernel, and either its task or a reference file:

    [[kernel]]
    file = "kernels/sum.cu"
    task = "vectoradd-cuda"
    devices = ["H100-SXM"]
    files = ["kernels/tile.cuh"]  # further files, if the task takes any

    [[kernel]]
    file = "kernels/norm.py"
    reference = "kernels/norm_reference.py"

With --base REF, only kernels run whose file, further files, or reference changed since REF. In mode ranked, a changed
kernel of a task is measured twice: as it is now, and as it is at REF. If the two intervals touch, the kernel counts as the
same; otherwise it is faster or slower. A kernel with a reference is compared with the reference.

The summary is Markdown. It goes to the file of --summary, else to the file that GITHUB_STEP_SUMMARY names, else to
standard output.`

// ciOptions are the flags of `warpboard ci`.
type ciOptions struct {
	baseCommit, summary, failOnChange, mode string
	allKernels                              bool
}

func ciCommand(c *connection) *cobra.Command {
	var o ciOptions
	cmd := &cobra.Command{Use: "ci [DIR]", Short: "run a repository's kernels, and compare them with a base commit", Long: ciHelp, Args: console.BetweenArgs(0, "DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.runCI(cmd.Context(), o, cmp.Or(strings.Join(args, ""), "."))
		}}
	f := cmd.Flags()
	f.StringVar(&o.baseCommit, "base", "", "commit or branch to compare with, such as origin/main")
	f.StringVar(&o.summary, "summary", "", "file to append the summary to")
	f.StringVar(&o.failOnChange, "fail-on", "slower", "when to exit with 3: never, failure (a kernel does not pass), or slower (failure, or a kernel got slower)")
	f.StringVar(&o.mode, "mode", string(job.ModeRanked), "mode of the submissions: ranked also measures times, test only checks")
	f.BoolVar(&o.allKernels, "all", false, "also run kernels that have not changed")
	return cmd
}

// ciResult is the result of one kernel on one device, for --json: keys may only be added. Times are in nanoseconds: the
// score of a submission, or the mean of an evaluation.
type ciResult struct {
	File         string      `json:"file"`
	ComparedWith string      `json:"for"` // name of the task, or file of the reference
	Device       string      `json:"device,omitempty"`
	State        string      `json:"state"` // passed, failed, unchanged
	Change       scoreChange `json:"change,omitempty"`
	Reason       string      `json:"why,omitempty"`
	Base         *float64    `json:"base_ns,omitempty"`
	Current      *float64    `json:"now_ns,omitempty"`
	// Speedup is the speed relative to the base commit or the reference.
	Speedup *float64 `json:"speedup,omitempty"`
	URL     string   `json:"url,omitempty"`
}

const (
	statePassed    = "passed"
	stateFailed    = "failed"
	stateUnchanged = "unchanged"
)

// runCI runs every kernel of a project.
func (c *connection) runCI(ctx context.Context, o ciOptions, dir string) error {
	if !slices.Contains([]string{"never", "failure", "slower"}, o.failOnChange) {
		return console.NewUsageError("--fail-on %q: want never, failure or slower", o.failOnChange)
	}
	p, err := findProject(dir)
	if err != nil {
		return err
	}
	if len(p.Kernels) == 0 {
		return console.NewUsageError("there is no %s with [[kernel]] entries in %s or above it", projectFile, dir)
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	r := &projectRunner{site: site, options: o, project: p}
	found := []ciResult{}
	// The kernels run in sequence: they would wait for the same device anyway, and several at once could exceed a
	// person's limit of waiting runs.
	for _, k := range p.Kernels {
		results, err := r.checkKernel(ctx, k)
		if err != nil {
			return fmt.Errorf("%s: %w", k.File, err)
		}
		found = append(found, results...)
	}
	if err := c.printCIResults(o, found); err != nil {
		return err
	}
	return o.verdictError(found)
}

// verdictError returns the error for the exit code that the flags require.
func (o ciOptions) verdictError(found []ciResult) error {
	bad, slow := 0, 0
	for _, one := range found {
		if one.State == stateFailed {
			bad++
		}
		if one.Change == changeSlower {
			slow++
		}
	}
	switch {
	// "slower" includes failures. With "never", only the summary is printed.
	case o.failOnChange != "never" && bad > 0:
		return console.NewFailedError("%d of %d did not pass", bad, len(found))
	case o.failOnChange == "slower" && slow > 0:
		return console.NewFailedError("%d of %d got slower", slow, len(found))
	}
	return nil
}

// projectRunner runs the kernels of one project.
type projectRunner struct {
	site    *client.Client
	options ciOptions
	project project
}

func (r *projectRunner) checkKernel(ctx context.Context, k kernelConfig) ([]ciResult, error) {
	if k.hasOutsideFile() {
		return nil, errors.New("kernels lie below the folder of warpboard.toml")
	}
	path := filepath.Join(r.project.dir, k.File)
	here := func(file string) ([]byte, error) {
		return readInsideFolder(r.project.dir, file, tasks.MaxSubmission)
	}
	now, err := k.read(here)
	if err != nil {
		return nil, err
	}
	base, err := k.read(func(file string) ([]byte, error) { return r.fileAtBase(ctx, file) })
	if len(parse.ProblemsFromError(err)) > 0 {
		base, err = tasks.Submission{}, nil // the base commit has an invalid submission, so this kernel counts as new
	}
	if err != nil {
		return nil, err
	}
	// The whole submission is compared, with additional files. Changes of the task or of the machine are ignored: with
	// --all, it runs again.
	same := base.Source != nil && bytes.Equal(base.Pack(), now.Pack()) && !r.options.allKernels
	if k.Reference != "" {
		return r.compareAllWithReference(ctx, k, path, same)
	}
	if same {
		return []ciResult{{File: k.File, ComparedWith: r.project.kernelConfigFor(path).Task,
			State: stateUnchanged}}, nil
	}
	// after and before are measured in sequence: a change of the machine between them counts as a difference.
	// Overlapping intervals count as equal, which covers small changes.
	after, err := r.submitAndWait(ctx, path, now)
	if err != nil {
		return nil, err
	}
	var before *client.Submission
	if base.Source != nil && job.Mode(r.options.mode) == job.ModeRanked { // other modes have no scores
		if before, err = r.submitAndWait(ctx, path, base); err != nil {
			return nil, fmt.Errorf("as it is at %s: %w", r.options.baseCommit, err)
		}
	}
	return decodeResults(k.File, before, after), nil
}

// hasOutsideFile reports whether a kernel has a file outside of the project. In a pull request, the project may come
// from an untrusted person: such a file would be sent to the site, and compiler messages could show it.
func (k kernelConfig) hasOutsideFile() bool {
	outside := func(file string) bool { return !filepath.IsLocal(file) }
	return outside(k.File) || k.Reference != "" && outside(k.Reference) || slices.ContainsFunc(k.Files, outside)
}

// read reads the files of a kernel with the given function. The source of the submission is nil if the function returns
// nil for it.
func (k kernelConfig) read(read func(file string) ([]byte, error)) (tasks.Submission, error) {
	return tasks.ReadSubmission(append([]string{k.File}, k.Files...), read)
}

// fileAtBase returns a file in the base commit; nil if there is no base commit or no such file.
func (r *projectRunner) fileAtBase(ctx context.Context, file string) ([]byte, error) {
	if r.options.baseCommit == "" {
		return nil, nil
	}
	git := func(args ...string) ([]byte, error) {
		return exec.CommandContext(ctx, "git", append([]string{"-C", r.project.dir}, args...)...).Output()
	}
	if _, err := git("rev-parse", "--verify", "--quiet", "--end-of-options",
		r.options.baseCommit+"^{commit}"); err != nil {
		return nil, console.NewUsageError("--base %q is not a commit of this repository (fetch it first)",
			r.options.baseCommit)
	}
	// --end-of-options keeps a base or a file that begins with "-" from being an option of git. An error means that the
	// file is new, because the commit exists.
	text, err := git("show", "--end-of-options", r.options.baseCommit+":./"+filepath.ToSlash(file))
	if err != nil {
		return nil, nil // the file is new
	}
	return text, nil
}

// submitAndWait submits a source and waits until it has ended.
func (r *projectRunner) submitAndWait(ctx context.Context, path string, s tasks.Submission) (*client.Submission, error) {
	in := client.NewSubmission{
		Mode:     job.Mode(r.options.mode),
		FileName: filepath.Base(path),
		Source:   string(s.Source),
		Files:    s.FileTexts(),
	}
	if err := r.project.kernelConfigFor(path).fillFromProject(&in.Task, &in.Devices, s.Source); err != nil {
		return nil, err
	}
	sub, err := r.site.Submit(ctx, in)
	// Each Wait ends after at most pollIntervalLog. The loop has no limit of its own: CI systems have one, and after an
	// interrupt the runs continue.
	for err == nil && !sub.Ended {
		id := sub.ID
		if sub, err = r.site.Wait(ctx, id, pollIntervalLog); errors.Is(err, context.Canceled) {
			err = console.ReplaceMessage(err, "interrupted. Submission %d continues: warpboard watch %d, warpboard cancel %d", id, id, id)
		}
	}
	return sub, err
}
