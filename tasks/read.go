package tasks

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Upload is a tree of files that tasks are read from: an unpacked zip or a folder.
type Upload struct {
	tree tree
	name string
}

// OpenZip unpacks a zip into memory. Its errors are Problems that name the file: not a zip,
// a path that escapes, a link, too many or too large files, and the like.
func OpenZip(r io.ReaderAt, size int64, options Options) (*Upload, error) {
	options = options.withDefaults()
	files, err := unzip(r, size, options)
	if err != nil {
		return nil, Problems(ProblemsIn(err))
	}
	return &Upload{tree: files, name: options.Name}, nil
}

// OpenFolder reads files as tasks ask for them. Sources never leave fsys; give the FS of an
// os.Root where links must not leave it either.
func OpenFolder(fsys fs.FS, options Options) *Upload {
	if options.MaxFiles == 0 {
		options.MaxFiles = 20_000
	}
	options = options.withDefaults()
	return &Upload{tree: folder{fs: fsys, options: options}, name: options.Name}
}

// Folders names the task folders ("." for the top). A task at the top is alone: what lies
// below it is its own.
func (u *Upload) Folders() []string {
	if _, err := u.tree.read(TaskFile); err == nil {
		return []string{"."}
	}
	var out []string
	for _, name := range u.tree.list(".") {
		if path.Base(name) == TaskFile {
			out = append(out, path.Dir(name))
		}
	}
	return out
}

// Bundle reads the task in one folder. Its errors are Problems.
func (u *Upload) Bundle(folder string) (*Bundle, error) {
	return readTask(u.tree, folder, u.name)
}

// Bundles reads every task folder. The error lists what is wrong in all of them.
func (u *Upload) Bundles() ([]*Bundle, error) {
	folders := u.Folders()
	if len(folders) == 0 {
		return nil, Problems{{Message: fmt.Sprintf("there is no %s in what was uploaded", TaskFile)}}
	}
	var out []*Bundle
	var problems Problems
	for _, dir := range folders {
		b, err := u.Bundle(dir)
		found := ProblemsIn(err)
		if err != nil && found == nil {
			return nil, err
		}
		for _, p := range found {
			problems.add(p)
		}
		out = append(out, b)
	}
	if err := problems.err(); err != nil {
		return nil, err
	}
	return out, nil
}

// ReadZip gives the tasks of a zip: one task folder, at its top or below, or many of them.
func ReadZip(r io.ReaderAt, size int64, options Options) ([]*Bundle, error) {
	upload, err := OpenZip(r, size, options)
	if err != nil {
		return nil, err
	}
	return upload.Bundles()
}

// ReadFolder gives the task in folder dir of fsys; `../` in its sources may reach all of fsys.
func ReadFolder(fsys fs.FS, dir string, options Options) (*Bundle, error) {
	return OpenFolder(fsys, options).Bundle(dir)
}

// OpenLocal opens a task folder of this machine, for a command. The upload reaches two folders
// above it, as far as public problem trees share their files; dir is the folder inside the
// upload. Close the root when done.
func OpenLocal(folder string) (upload *Upload, root *os.Root, dir string, err error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil, nil, "", fmt.Errorf("finding %s: %w", folder, err)
	}
	top := filepath.Dir(filepath.Dir(abs))
	root, err = os.OpenRoot(top)
	if err != nil {
		return nil, nil, "", fmt.Errorf("opening %s: %w", top, err)
	}
	dir, err = filepath.Rel(top, abs)
	if err != nil {
		root.Close()
		return nil, nil, "", fmt.Errorf("finding %s: %w", folder, err)
	}
	return OpenFolder(root.FS(), Options{Name: filepath.Base(abs)}), root, filepath.ToSlash(dir), nil
}
