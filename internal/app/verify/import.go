package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"warpboard/internal/app/cli/console"
	"warpboard/tasks"
	"warpboard/tasks/importing"
	"warpboard/tasks/parse"
	"warpboard/views/format"
)

const importHelp = `Makes task folders of problems written for other benchmarks, and checks each like an upload.

PATH is a problem, a folder of problems, or a zip of them:

  - KernelBench: a Python file with Model, get_inputs, and get_init_inputs.
  - SOL-ExecBench: a folder with definition.json, workload.jsonl, and solutions.
  - FlashInfer Trace: the folders definitions, workloads, and solutions.
  - LeetGPU: a folder with challenge.py.

Prints a line for each problem, and below it what its task cannot express. Without --out, nothing is written. With it,
DIR gets a folder for each problem that could be imported: check them with warpboard verify-task, and publish them
with warpboard task sync. Runs no code of the problems.

Exits with 1 if a problem cannot be imported. The others are.`

// importOptions are the flags of `warpboard import`.
type importOptions struct {
	outDir string
	importing.ImportOptions
}

// ImportCommand returns the command `warpboard import`, which converts problems of other benchmark collections to
// tasks.
func ImportCommand(env console.Environment) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{Use: "import PATH", Long: importHelp, Args: console.ExactArgs("PATH"),
		Short: "make tasks of problems of other benchmarks, such as KernelBench"}
	cmd.Example = `  warpboard import KernelBench/level1/1_Square_matrix_multiplication_.py
  warpboard import KernelBench/level1 --out level1 --largest 64`
	cmd.RunE = func(_ *cobra.Command, args []string) error { return o.run(console.NewScreen(env), args[0]) }
	cmd.Flags().StringVar(&o.outDir, "out", "", "new folder for the tasks; default: only check the problems")
	cmd.Flags().IntVar(&o.MaxDimension, "largest", 0,
		"halve the sizes in the problems until none is larger, for a CPU or a small GPU; 0 leaves them unchanged")
	cmd.SetFlagErrorFunc(console.NewFlagError)
	return cmd
}

func (o *importOptions) run(screen *console.Screen, from string) error {
	if o.MaxDimension < 0 {
		return console.NewUsageError("--largest %d: want 0 or more", o.MaxDimension)
	}
	if _, err := os.Lstat(o.outDir); o.outDir != "" && !errors.Is(err, fs.ErrNotExist) {
		return console.NewUsageError("%s exists already: name a new folder", o.outDir)
	}
	upload, err := tasks.OpenPathWithImport(from, o.ImportOptions)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	defer upload.Close()
	if !upload.IsImported() {
		return fmt.Errorf("%s has no problem of a known benchmark: warpboard import --help lists them", from)
	}
	list, err := upload.Proposals(time.Now())
	if err != nil { // no problem can be imported
		for _, problem := range parse.ProblemsFromError(err) {
			screen.PrintLine("refused   %s", problem)
		}
		return fmt.Errorf("no problem of %s can be imported", from)
	}
	refused := 0
	for _, p := range list {
		if p.Err != nil {
			refused++
			screen.PrintLine("refused   %s", p.Err)
			continue
		}
		screen.PrintLine("imported  %s", p.Name)
		for _, note := range append(p.Notes, p.Bundle.Warnings...) {
			screen.PrintLine("          %s", note)
		}
	}
	if o.outDir != "" {
		if err := writeTaskFolders(upload, list, o.outDir); err != nil {
			return fmt.Errorf("writing the tasks to %s: %w", o.outDir, errors.Join(err, os.RemoveAll(o.outDir)))
		}
	}
	screen.PrintLine("%s imported, %d refused", format.Plural(len(list)-refused, "problem", "problems"), refused)
	if refused > 0 {
		return fmt.Errorf("%d of %s cannot be imported", refused, format.Plural(len(list), "problem", "problems"))
	}
	return nil
}

// writeTaskFolders writes the folders of the imported tasks into dir, which it creates.
func writeTaskFolders(upload *tasks.Upload, list []tasks.TaskProposal, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, p := range list {
		if p.Err != nil {
			continue
		}
		files, err := upload.Files(p.Folder)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			to := path.Join(p.Folder, name)
			if err := root.MkdirAll(path.Dir(to), 0o777); err != nil {
				return err
			}
			if err := root.WriteFile(to, files[name], 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}
