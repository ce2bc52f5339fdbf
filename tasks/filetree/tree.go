package filetree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"warpboard/tasks/parse"
)

// FileTree is a set of regular files from which task folders are read. Paths are slash-separated and relative, without
// "..".
type FileTree interface {
	// Read returns the contents of one file; the error is fs.ErrNotExist if there is none.
	Read(path string) ([]byte, error)
	// List returns the sorted paths of the files below a folder ("." for all), relative to the folder.
	List(dir string) []string
}

// Limits of reading. The zero value means the defaults.
type Limits struct {
	MaxFiles int   // number of files; default 512
	MaxFile  int64 // bytes of one file, unpacked; default 4 MiB
	MaxTotal int64 // bytes of all files, unpacked; default 32 MiB
}

func (l Limits) withDefaults() Limits {
	if l.MaxFiles == 0 {
		l.MaxFiles = 512
	}
	if l.MaxFile == 0 {
		l.MaxFile = 4 << 20
	}
	if l.MaxTotal == 0 {
		l.MaxTotal = 32 << 20
	}
	return l
}

// missingFileError is the error for a file that a tree does not have; its text is the path.
type missingFileError string

func (m missingFileError) Error() string {
	return fmt.Sprintf("there is no file %q", string(m))
}
func (m missingFileError) Is(target error) bool { return target == fs.ErrNotExist }

// MemoryTree is a tree in memory.
type MemoryTree map[string][]byte

func (a MemoryTree) Read(name string) ([]byte, error) {
	data, ok := a[name]
	if !ok {
		return nil, missingFileError(name)
	}
	return data, nil
}

func (a MemoryTree) List(dir string) []string {
	var out []string
	for name := range a {
		if rest, ok := pathInside(dir, name); ok {
			out = append(out, rest)
		}
	}
	slices.Sort(out)
	return out
}

func pathInside(dir, name string) (rest string, ok bool) {
	if dir == "." {
		return name, true
	}
	return strings.CutPrefix(name, dir+"/")
}

// diskTree is a tree on disk, read on demand. Symbolic links as the last element of a path are not followed. To refuse
// them in the elements before, pass the FS of an os.Root.
type diskTree struct {
	fs     fs.FS
	limits Limits
}

// FolderTree returns the tree of fsys; limits apply to each of its files.
func FolderTree(fsys fs.FS, limits Limits) FileTree {
	return diskTree{fs: fsys, limits: limits.withDefaults()}
}

func (f diskTree) Read(name string) ([]byte, error) {
	info, err := fs.Lstat(f.fs, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missingFileError(name)
	case err != nil:
		return nil, fmt.Errorf("looking at %s: %w", name, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a regular file", name)
	case info.Size() > f.limits.MaxFile:
		return nil, fmt.Errorf("%q is larger than %s", name, parse.SizeText(f.limits.MaxFile))
	}
	data, err := fs.ReadFile(f.fs, name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return data, nil
}

// List stops without an error at the first unreadable folder and at MaxFiles names: it is only used for finding task
// folders and for the warning about unused files.
func (f diskTree) List(dir string) []string {
	var out []string
	_ = fs.WalkDir(f.fs, dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || len(out) >= f.limits.MaxFiles:
			return fs.SkipAll
		case entry.IsDir() && name != dir && strings.HasPrefix(path.Base(name), "."):
			return fs.SkipDir
		case entry.Type().IsRegular():
			rest, _ := pathInside(dir, name)
			out = append(out, rest)
		}
		return nil
	})
	return out
}
