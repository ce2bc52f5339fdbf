package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
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

const submitHelp = `Submit a kernel to a task: its main source file, then further files if the task takes any.

The task and the devices come from the first of these that names them:
  1. --task and --device
  2. the comment at the top of the source: #!POPCORN leaderboard NAME and #!POPCORN gpus A B (//!POPCORN in C++ and CUDA)
  3. the warpboard.toml in the file's folder or in one above it
If the task has only one device, you need no --device. Use - as FILE to read standard input. A [[kernel]] entry of
warpboard.toml can also name further files: files = ["tile.cuh"].`

func submitCommand(c *connection) *cobra.Command {
	in, filter := client.NewSubmission{}, job.ProfileFilter{}
	var watch bool
	cmd := &cobra.Command{Use: "submit FILE [FILE...]", Short: "submit a kernel to a task; --watch waits for the result", Long: submitHelp, Args: console.AtLeastArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !filter.Empty() {
				in.ProfileFilter = &filter
			}
			return c.submit(cmd.Context(), in, args, watch)
		}}
	cmd.Flags().StringVar(&in.Task, "task", "", "name of the task")
	cmd.Flags().StringSliceVar(&in.Devices, "device", nil, "devices, separated by commas")
	cmd.Flags().StringVar((*string)(&in.Mode), "mode", string(job.ModeTest), "test, benchmark, ranked, profile or sanitize")
	cmd.Flags().StringVar(&filter.Kernel, "kernel", "", "with --mode profile: name of the kernel to profile, or regex: and a pattern")
	cmd.Flags().IntVar(&filter.LaunchSkip, "launch-skip", 0, "with --mode profile: number of launches of that kernel to skip first")
	cmd.Flags().IntVar(&filter.LaunchCount, "launch-count", 0, "with --mode profile: number of launches to profile after the skipped ones, at most 16")
	cmd.Flags().StringSliceVar(&filter.Sections, "section", nil, "with --mode profile: sections of Nsight Compute, separated by commas: "+strings.Join(job.ProfileSections(), ", "))
	cmd.Flags().StringVar(&in.OnBehalfOf, "for", "", "for admins: add the submission for the person with this name, even after the deadline")
	cmd.Flags().StringVar(&in.AddedReason, "why", "", "with --for: the reason, which everyone can read")
	cmd.Flags().BoolVar(&watch, "watch", false, "print progress until every run has ended; exit 3 if one failed. With --json, print only the final result")
	return cmd
}

// submit sends files to a site, the main one first.
func (c *connection) submit(ctx context.Context, in client.NewSubmission, files []string, watch bool) error {
	file := files[0]
	p, err := findProject(filepath.Dir(file)) // for the standard input ("-"), the project of the working directory
	if err != nil {
		return err
	}
	k := p.kernelConfigFor(file)
	// Files in the command line replace those in the project file, like all other settings.
	if len(files) == 1 {
		if slices.ContainsFunc(k.Files, func(f string) bool { return !filepath.IsLocal(f) }) {
			return console.NewUsageError("the files of a kernel lie below the folder of %s", projectFile)
		}
		files = append(files, p.additionalPaths(k)...)
	}
	read, err := tasks.ReadSubmission(files, c.readFile)
	if len(parse.ProblemsFromError(err)) > 0 {
		return console.NewUsageError("%v", err)
	} else if err != nil {
		return err
	}
	if err := k.fillFromProject(&in.Task, &in.Devices, read.Source); err != nil {
		return err
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	// The standard input has no file name, so the site uses the name in the task.
	if in.Source, in.Files = string(read.Source), read.FileTexts(); file != "-" {
		in.FileName = filepath.Base(file)
	}
	// The client sends an idempotency key, so that a request that a proxy repeats does not create a second submission.
	// Repeating the command does.
	sub, err := site.Submit(ctx, in)
	if err != nil {
		return err
	}
	if !watch {
		c.warnOfUnservedDevices(ctx, site, sub)
		return c.printAnswer(sub, nil, func(s *console.Screen) { s.PrintLine("submission %d  %s", sub.ID, sub.URL) })
	}
	return c.watch(ctx, site, sub.ID)
}

// warnOfUnservedDevices warns on stderr about devices of a submission that have no worker. Errors are ignored.
func (c *connection) warnOfUnservedDevices(ctx context.Context, site *client.Client, sub *client.Submission) {
	devices, err := site.Devices(ctx)
	if err != nil {
		return
	}
	here := fleetStateOf(devices)
	for _, run := range sub.Runs {
		if here.slotsByDevice[run.Device] == 0 {
			fmt.Fprintf(c.env.Stderr, "warpboard: %s: %s\n", console.RemoveControlCharacters(run.Device), console.RemoveControlCharacters(workerAvailabilityText(true, here.problemByDevice[run.Device], here.servedDevices)))
		}
	}
}

// readFile reads a file; "-" is the standard input, up to the size of a submission.
func (c *connection) readFile(file string) ([]byte, error) {
	if file != "-" {
		return readRegularFile(file, tasks.MaxSubmission)
	}
	if c.env.Stdin == nil {
		return nil, console.NewUsageError("there is no standard input to read")
	}
	return io.ReadAll(io.LimitReader(c.env.Stdin, tasks.MaxSubmission+1))
}

func watchCommand(c *connection) *cobra.Command {
	return &cobra.Command{Use: "watch ID", Short: "follow a submission until every run has ended", Args: console.ExactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			site, id, err := c.siteOfSubmission(args[0])
			if err != nil {
				return err
			}
			return c.watch(cmd.Context(), site, id)
		}}
}

// watch prints the progress of a submission; with --json, only its end.
func (c *connection) watch(ctx context.Context, site *client.Client, id int64) error {
	s := c.newScreen()
	if c.json {
		s = nil
	} else {
		s.PrintLine("submission %d  %s/submissions/%d", id, site.BaseURL(), id)
	}
	sub, err := newWatcher(s, site, id).run(ctx)
	if errors.Is(err, context.Canceled) {
		return console.ReplaceMessage(err, "stopped watching. Submission %d continues: warpboard watch %d, warpboard cancel %d", id, id, id)
	}
	if sub != nil && c.json {
		err = errors.Join(err, c.jqFilter.Print(c.env.Stdout, sub))
	}
	return err
}
