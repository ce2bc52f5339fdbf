package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
	"warpboard/views/format"
)

func taskCommand(c *connection) *cobra.Command {
	cmd := &cobra.Command{Use: "task", Short: "show, download, and publish tasks"}
	show := &cobra.Command{Use: "show TASK", Short: "print a task: description, cases, templates", Args: console.ExactArgs("TASK"), ValidArgsFunction: c.completeBoard,
		RunE: func(cmd *cobra.Command, args []string) error { return c.showTask(cmd.Context(), args[0]) }}
	pull := &cobra.Command{Use: "pull TASK [DIR]", Short: "download a task's files into a new folder, ready to submit from", Args: console.BetweenArgs(1, "TASK", "DIR"), ValidArgsFunction: c.completePull,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.pull(cmd.Context(), args[0], args[len(args)-1])
		}}
	validate := &cobra.Command{Use: "validate TASK", Short: "run a closed task's validation script on the top ten entries of its boards", Args: console.ExactArgs("TASK"), ValidArgsFunction: c.completeBoard,
		RunE: func(cmd *cobra.Command, args []string) error { return c.validateTask(cmd.Context(), args[0]) }}
	var p client.Publication
	publish := &cobra.Command{Use: "publish PATH", Short: "create or update a task from a folder, zip, or reference file", Args: console.ExactArgs("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.publish(cmd.Context(), args[0], p, true) }}
	publish.Flags().StringVar(&p.Task, "name", "", "name of the task in addresses; default: the name in its folder's warpboard.toml, else the name of the folder or file")
	publish.Flags().StringVar(&p.Deadline, "deadline", "", "when the task closes: 2030-01-31T18:00:00Z, or none; default: the problem set's deadline, else no change")
	publish.Flags().BoolVar(&p.DryRun, "dry-run", false, "only print what would change")
	var apply bool
	sync := &cobra.Command{Use: "sync DIR", Short: "publish the changed tasks of a folder; without --apply, only print the changes", Args: console.ExactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.DryRun = !apply
			return c.publish(cmd.Context(), args[0], p, false)
		}}
	sync.Flags().BoolVar(&apply, "apply", false, "publish the changes; without it, they are only printed")
	for _, cmd := range []*cobra.Command{publish, sync} {
		cmd.Flags().StringSliceVar(&p.Devices, "device", nil, "devices of new tasks, separated by commas; default: the devices that each task names")
		cmd.Flags().StringVar(&p.Visibility, "visibility", "", "who sees new tasks: public (default), unlisted, members or hidden")
	}
	cmd.AddCommand(show, pull, publish, sync, validate)
	return console.CommandGroup(cmd)
}

func (c *connection) showTask(ctx context.Context, slug string) error {
	site, err := c.site()
	if err != nil {
		return err
	}
	task, err := site.Task(ctx, slug)
	return c.printAnswer(task, err, func(s *console.Screen) {
		s.PrintLine("%s (version %d), %s, on %s\n\n%s\n", task.Title, task.Version, task.Lang, strings.Join(task.Devices, ", "), task.Description)
		if len(task.SubmissionFiles) > 0 {
			s.PrintLine("a submission can have extra files: %s\n", strings.Join(task.SubmissionFiles, ", "))
		}
		for _, one := range task.Benchmarks {
			s.PrintLine("benchmark  %s", one)
		}
		for label, file := range task.Templates {
			s.PrintLine("\ntemplate %s: %s\n%s", label, file.Name, file.Text)
		}
	})
}

func (c *connection) validateTask(ctx context.Context, slug string) error {
	site, err := c.site()
	if err != nil {
		return err
	}
	queued, err := site.QueueValidations(ctx, slug)
	return c.printAnswer(queued, err, func(s *console.Screen) {
		s.PrintLine("The script of %s is queued for %s. Boards will have its answers: warpboard board %s DEVICE --json", queued.Task, format.Plural(queued.Queued, "entry", "entries"), queued.Task)
	})
}

// pull writes the files of a task to a new folder with a project file, so that its template can be submitted from this
// folder.
func (c *connection) pull(ctx context.Context, slug, dir string) error {
	site, err := c.site()
	if err != nil {
		return err
	}
	task, err := site.Task(ctx, slug)
	if err != nil {
		return err
	}
	name, data, err := site.Bundle(ctx, slug)
	if err != nil {
		return err
	}
	// If the folder exists, pull fails, so that it never overwrites files of the user.
	if err := os.Mkdir(dir, 0o777); errors.Is(err, fs.ErrExist) {
		return console.NewUsageError("%s exists already: name another folder, as in warpboard task pull %s DIR", dir,
			slug)
	} else if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := unpackTask(root, name, data); err != nil {
		return errors.Join(err, os.RemoveAll(dir)) // do not leave a partial task
	}
	devices, err := site.Devices(ctx)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	text := fmt.Sprintf("# The task of this folder's kernels, for: warpboard submit FILE\ntask = %q\n%s", task.Slug, devicesSettingLine(task.Devices, devices))
	if err := root.WriteFile(projectFile, []byte(text), 0o666); err != nil {
		return err
	}
	return c.printAnswer(task, nil, func(s *console.Screen) {
		s.PrintLine("%s is in %s", task.Slug,
			filepath.Clean(dir))
	})
}

// devicesSettingLine returns the line of a project file with those devices of a task that have a worker. If none has,
// the line is a comment, because runs would wait.
func devicesSettingLine(of []string, known []client.Device) string {
	served := slices.DeleteFunc(slices.Clone(of), func(name string) bool {
		return !slices.ContainsFunc(known, func(d client.Device) bool { return d.Device == name && d.Slots > 0 })
	})
	if len(served) == 0 {
		return fmt.Sprintf("# No device of this task has a worker now. Choose some of them:\n# devices = %s\n", quoteShellWords(of))
	}
	return fmt.Sprintf("devices = %s\n", quoteShellWords(served))
}

func quoteShellWords(words []string) string {
	text := fmt.Sprintf("%q", words)
	return string(bytes.ReplaceAll([]byte(text), []byte(`" "`), []byte(`", "`)))
}

// maxUnpackedFiles limits the files and folders of a task; sites accept fewer.
const maxUnpackedFiles = 4096

// maxUnpackedBytes limits the size of the files of a task in bytes, far above what sites accept, so that a wrong
// response cannot fill the disk.
const maxUnpackedBytes = 64 << 20

var errTaskTooLarge = fmt.Errorf("its files exceed %d MiB, so it is not a task of a Warpboard site: do not use the files", maxUnpackedBytes>>20)

// unpackTask writes the files of a zip below a folder, without the outermost folder in the zip. If data is not a zip,
// it is one reference file.
func unpackTask(root *os.Root, name string, data []byte) error {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return root.WriteFile(name, data, 0o666)
	}
	if len(archive.File) > maxUnpackedFiles {
		return fmt.Errorf("it has %d files, so it is not a task of a Warpboard site", len(archive.File))
	}
	around, size := commonZipFolder(archive), uint64(0)
	for _, f := range archive.File {
		// These are the sizes declared in the archive; unpackFile limits the real size. min prevents an overflow of the
		// sum.
		if size += min(f.UncompressedSize64, maxUnpackedBytes+1); size > maxUnpackedBytes {
			return errTaskTooLarge
		}
	}
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if err := unpackFile(root, strings.TrimPrefix(f.Name, around), f); err != nil {
			return fmt.Errorf("unpack %s: %w", f.Name, err)
		}
	}
	return nil
}

// commonZipFolder returns the folder in a zip that contains all files, with a slash at the end; "" if there is none.
func commonZipFolder(archive *zip.Reader) (around string) {
	for i, f := range archive.File {
		first, _, nested := strings.Cut(f.Name, "/")
		if !nested || i > 0 && first+"/" != around {
			return ""
		}
		around = first + "/"
	}
	return around
}

func unpackFile(root *os.Root, name string, f *zip.File) error {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	from, err := f.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	// os.Root refuses names and links that lead outside of the folder.
	to, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	n, err := io.Copy(to, io.LimitReader(from, maxUnpackedBytes+1))
	if n > maxUnpackedBytes {
		err = errTaskTooLarge
	}
	return errors.Join(err, to.Close())
}
