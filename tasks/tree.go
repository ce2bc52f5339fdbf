package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// tree is a set of regular files that task folders are read from. Paths are slash-separated
// and never leave it.
type tree interface {
	// read gives one file; the error is fs.ErrNotExist if it is not there.
	read(path string) ([]byte, error)
	// list names the files below a folder ("." for all), relative to it, sorted.
	list(dir string) []string
}

// missing is the error for a file that a tree does not have.
type missing string

func (m missing) Error() string {
	return fmt.Sprintf("there is no file %q in what was uploaded", string(m))
}
func (m missing) Is(target error) bool { return target == fs.ErrNotExist }

// archive is a tree in memory.
type archive map[string][]byte

func (a archive) read(name string) ([]byte, error) {
	data, ok := a[name]
	if !ok {
		return nil, missing(name)
	}
	return data, nil
}

func (a archive) list(dir string) []string {
	var out []string
	for name := range a {
		if rest, ok := below(dir, name); ok {
			out = append(out, rest)
		}
	}
	slices.Sort(out)
	return out
}

func below(dir, name string) (rest string, ok bool) {
	if dir == "." {
		return name, true
	}
	return strings.CutPrefix(name, dir+"/")
}

// folder is a tree on disk, read as files are asked for. Links are not followed at a path's last
// element; for the elements before it, give it the FS of an os.Root.
type folder struct {
	fs      fs.FS
	options Options
}

func (f folder) read(name string) ([]byte, error) {
	info, err := fs.Lstat(f.fs, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(name)
	case err != nil:
		return nil, fmt.Errorf("looking at %s: %w", name, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a regular file", name)
	case info.Size() > f.options.MaxFile:
		return nil, fmt.Errorf("%q is larger than %s", name, size(f.options.MaxFile))
	}
	data, err := fs.ReadFile(f.fs, name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return data, nil
}

// list gives up silently at the first unreadable folder and at MaxFiles names: it only feeds
// the search for task folders and the warning about unused files.
func (f folder) list(dir string) []string {
	var out []string
	_ = fs.WalkDir(f.fs, dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || len(out) >= f.options.MaxFiles:
			return fs.SkipAll
		case entry.IsDir() && name != dir && strings.HasPrefix(path.Base(name), "."):
			return fs.SkipDir
		case entry.Type().IsRegular():
			rest, _ := below(dir, name)
			out = append(out, rest)
		}
		return nil
	})
	return out
}
