package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/BurntSushi/toml"

	"warpboard/internal/app/cli/console"
	"warpboard/tasks"
	"warpboard/tasks/parse"
)

// projectFile has no setting for the site: an untrusted repository must not decide where a token is sent.
const projectFile = tasks.ProjectFile

// project has the task and the settings of the kernels in a folder.
type project struct {
	Task    string         `toml:"task,omitempty"`
	Devices []string       `toml:"devices,omitempty"`
	Kernels []kernelConfig `toml:"kernel,omitempty"`
	dir     string
}

// kernelConfig has the settings of one kernel, which is for a task or has a reference.
type kernelConfig struct {
	File      string   `toml:"file"`
	Task      string   `toml:"task,omitempty"`
	Devices   []string `toml:"devices,omitempty"`
	Reference string   `toml:"reference,omitempty"` // file of a correct kernel, instead of a task
	Files     []string `toml:"files,omitempty"`     // further files of a submission, if the task allows any
}

// findProject reads the project file of a folder or of its nearest parent, up to the root of the repository. Without a
// file, the project is empty.
func findProject(dir string) (p project, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return p, err
	}
	// The search ends at the folder with .git, or at the root: a file in the home directory must not apply to a
	// repository.
	for {
		if p, found, err := readProject(dir); found || err != nil {
			return p, err
		}
		above := filepath.Dir(dir)
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil || above == dir {
			return project{}, nil
		}
		dir = above
	}
}

// readProject reads the project file of one folder; found is false if there is none.
func readProject(dir string) (p project, found bool, err error) {
	file := filepath.Join(dir, projectFile)
	text, err := readRegularFile(file, tasks.MaxSubmission)
	var meta toml.MetaData
	if err == nil {
		meta, err = toml.Decode(string(text), &p)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return project{}, false, nil
	case err != nil:
		return p, false, fmt.Errorf("reading %s: %w", file, err)
	// Without this error, a misspelled key would be ignored.
	case len(meta.Undecoded()) > 0:
		return p, false, fmt.Errorf("%s: unknown key %q", file, meta.Undecoded()[0])
	}
	p.dir = dir
	return p, true, nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// kernelConfigFor returns the settings for a file: its own entry takes precedence over the settings of the folder.
func (p project) kernelConfigFor(file string) kernelConfig {
	k := kernelConfig{File: file, Task: p.Task, Devices: p.Devices}
	abs, err := filepath.Abs(file)
	if err != nil {
		return k
	}
	for _, own := range p.Kernels {
		if filepath.Join(p.dir, own.File) != abs {
			continue
		}
		if own.Task != "" {
			k.Task = own.Task
		}
		if len(own.Devices) > 0 {
			k.Devices = own.Devices
		}
		// The last entry for a file takes precedence in the fields that it sets.
		k.Reference, k.Files = own.Reference, own.Files
	}
	return k
}

// additionalPaths returns the paths of the additional files of a kernel.
func (p project) additionalPaths(k kernelConfig) []string {
	paths := make([]string, len(k.Files))
	for i, file := range k.Files {
		paths[i] = filepath.Join(p.dir, file)
	}
	return paths
}

// fillFromProject sets the task and the devices of a submission if no flag did. Directives in the source take
// precedence, and the site reads those.
func (k kernelConfig) fillFromProject(task *string, devices *[]string, source []byte) error {
	named, err := parse.ParseDirectives(source)
	if err != nil {
		return err
	}
	if *task == "" && named.Leaderboard == "" {
		if *task = k.Task; *task == "" {
			return console.NewUsageError("no task is given: use --task TASK, write %s leaderboard TASK in the first comment of the source, or task = \"TASK\" in %s (warpboard tasks lists them)", parse.DirectivePrefix(k.File), projectFile)
		}
	}
	if len(*devices) == 0 && len(named.GPUs) == 0 {
		*devices = k.Devices
	}
	return nil
}
