package tasks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"warpboard/tasks/filetree"
	"warpboard/tasks/importing"
	"warpboard/tasks/parse"
)

// Upload is a source of tasks: an unpacked zip, a folder, or one reference file in the legacy format. If it has no
// task, problems of other benchmark collections are converted to tasks.
type Upload struct {
	tree          filetree.FileTree
	name          string
	onlyFolder    string // only task folder to read; empty for all
	referenceFile string // reference file; empty for task folders
	// tasks made from problems, whose folders are in tree; empty if the upload has tasks itself
	importedTasks []importing.Task
	root          *os.Root
}

// OpenFile opens an uploaded file: a reference file according to its suffix, a problem of KernelBench according to its
// contents, otherwise a zip. Its errors are Problems.
func OpenFile(name string, data []byte) (*Upload, error) {
	return uploadFromFile(name, data, importing.ImportOptions{})
}

func uploadFromFile(name string, data []byte, options importing.ImportOptions) (*Upload, error) {
	name = path.Base(name)
	if languageOfReference(name) == LangPython && importing.IsKernelBenchProblem(data) {
		return (&Upload{tree: filetree.MemoryTree{name: data},
			name: nameWithoutSuffix(name)}).importProblems(options), nil
	}
	if languageOfReference(name) != "" {
		return &Upload{tree: filetree.MemoryTree{name: data}, referenceFile: name}, nil
	}
	return OpenZip(bytes.NewReader(data), int64(len(data)),
		ReadOptions{Name: nameWithoutSuffix(name), ImportOptions: options})
}

// OpenZip unpacks a zip into memory. Its errors are Problems with the name of the file: not a zip, a path outside, a
// link, too many or too large files.
func OpenZip(r io.ReaderAt, size int64, options ReadOptions) (*Upload, error) {
	options = options.withDefaults()
	files, err := filetree.UnzipTree(r, size, options.Limits)
	if err != nil {
		return nil, parse.Problems(parse.ProblemsFromError(err))
	}
	return (&Upload{tree: files, name: options.Name}).importProblems(options.ImportOptions), nil
}

// OpenFolder returns an upload whose files are read on demand. Paths outside fsys are refused; to refuse links to files
// outside, pass the FS of an os.Root.
func OpenFolder(fsys fs.FS, options ReadOptions) *Upload {
	return openTree(fsys, options).importProblems(options.ImportOptions)
}

func openTree(fsys fs.FS, options ReadOptions) *Upload {
	if options.Limits.MaxFiles == 0 {
		options.Limits.MaxFiles = 20_000
	}
	options = options.withDefaults()
	return &Upload{tree: filetree.FolderTree(fsys, options.Limits), name: options.Name}
}

// importProblems adds task folders for problems of other benchmark collections, if the upload has no task.
func (u *Upload) importProblems(options importing.ImportOptions) *Upload {
	if len(u.Folders()) > 0 {
		return u
	}
	options.Name = u.name
	if u.importedTasks = importing.ReadProblems(u.tree, options); len(u.importedTasks) == 0 {
		return u
	}
	files := filetree.MemoryTree{}
	for _, task := range u.importedTasks {
		for name, text := range task.Files {
			files[path.Join(task.Name, name)] = text
		}
	}
	u.tree = files
	return u
}

// IsImported reports whether the tasks were converted from problems of other benchmark collections.
func (u *Upload) IsImported() bool { return len(u.importedTasks) > 0 }

// Files returns all files of a task folder by their paths relative to it.
func (u *Upload) Files(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range u.tree.List(folder) {
		text, err := u.tree.Read(path.Join(folder, name))
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return files, nil
}

// Folders returns the task folders ("." for the top). A task at the top is the only one: all files below belong to it.
func (u *Upload) Folders() []string {
	if u.onlyFolder != "" {
		return []string{u.onlyFolder}
	}
	if _, err := u.tree.Read(TaskFile); err == nil {
		return []string{"."}
	}
	var out []string
	for _, name := range u.tree.List(".") {
		if path.Base(name) == TaskFile {
			out = append(out, path.Dir(name))
		}
	}
	return out
}

// ReadBundle reads the task in one folder. Its errors are Problems.
func (u *Upload) ReadBundle(folder string) (*Bundle, error) {
	return readTask(u.tree, folder, u.taskName(folder))
}

// taskName returns the name of the task in a folder: the name of the folder, or at the top the name of the upload.
func (u *Upload) taskName(folder string) string {
	if folder == "." {
		return u.name
	}
	return path.Base(folder)
}

// Bundles reads every task folder. The error has the problems of all tasks.
func (u *Upload) Bundles() ([]*Bundle, error) {
	folders := u.Folders()
	if len(folders) == 0 {
		return nil, parse.Problems{{Message: fmt.Sprintf("there is no %s: a task is a folder that holds one", TaskFile)}}
	}
	var out []*Bundle
	var all parse.Problems
	for _, dir := range folders {
		b, err := u.ReadBundle(dir)
		found := parse.ProblemsFromError(err)
		if err != nil && found == nil {
			return nil, err
		}
		for _, p := range found {
			all.Add(p)
		}
		out = append(out, b)
	}
	if err := all.AsError(); err != nil {
		return nil, err
	}
	return out, nil
}

// maxPathBytes limits the size of a file that OpenPath reads, in bytes, to the allowed size of an unpacked zip.
const maxPathBytes = 64 << 20

// OpenPath opens a path on this machine for a command: a task folder, a tree of task folders, a zip, or a reference
// file. A task folder can use files from two folders above it, as in public problem trees. The caller must call Close.
func OpenPath(name string) (*Upload, error) {
	return OpenPathWithImport(name, importing.ImportOptions{})
}

// OpenPathWithImport opens a path as OpenPath does, with options for problems of other benchmark collections.
func OpenPathWithImport(name string, options importing.ImportOptions) (*Upload, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("finding %s: %w", name, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, fmt.Errorf("opening what to read tasks from: %w", err)
	}
	if info.IsDir() {
		return openDir(abs, options)
	}
	if filepath.Base(abs) == TaskFile {
		return openDir(filepath.Dir(abs), options)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	if ext := filepath.Ext(abs); ext == ".yaml" || ext == ".yml" { // a problem set instead of a task
		return nil, fmt.Errorf("%s is not a task: name the folder that holds it", name)
	}
	data, err := readUploadFile(abs)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return uploadFromFile(filepath.Base(abs), data, options)
}

// readUploadFile reads a zip or a reference file. It opens the file without blocking: a pipe could have replaced it
// since it was checked.
func readUploadFile(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPathBytes+1))
	if err == nil && len(data) > maxPathBytes {
		err = fmt.Errorf("it is larger than %s", parse.SizeText(maxPathBytes))
	}
	return data, err
}

func openDir(dir string, options importing.ImportOptions) (*Upload, error) {
	top := dir
	if _, err := os.Lstat(filepath.Join(dir, TaskFile)); err == nil {
		// The root of the tree is two folders above the task, so that "../../shared" works; os.Root refuses links to
		// files outside.
		top = filepath.Dir(filepath.Dir(dir))
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", top, err)
	}
	upload := openTree(root.FS(), ReadOptions{Name: filepath.Base(dir)})
	upload.root = root
	if top == dir {
		return upload.importProblems(options), nil
	}
	inside, err := filepath.Rel(top, dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("finding %s: %w", dir, err), root.Close())
	}
	upload.onlyFolder = filepath.ToSlash(inside)
	return upload, nil
}

// Close closes the folder opened by OpenPath.
func (u *Upload) Close() error {
	if u.root == nil {
		return nil
	}
	return u.root.Close()
}
