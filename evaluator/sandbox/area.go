package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// defaultAreaBytes is the size of a writable area without a limit in the spec, in bytes.
const defaultAreaBytes = 64 << 20

// runArea has the files of one run on the host. It has two forms: a directory on the disk (dirToRemove), which must
// be removed, and which removeOrphanDirs removes after a crash; or a mount namespace of the thread that starts the run
// (newPrivateArea), which ends with the run. Only outDir gives access to the files of the second form.
type runArea struct {
	inPath, outPath, tmpPath string // directories; tmpPath only if no sandbox creates a /tmp
	bindMounts               []bindMountPaths
	outDir                   *os.File // for reading out after the run has ended
	dirToRemove              string   // directory to remove after the run; may be empty
}

// bindMountPaths is a host path that bubblewrap shows inside.
type bindMountPaths struct{ host, inside string }

// newRunArea creates the area of a run and writes its files into it. uid is the run's user ID, or -1.
func (s *Sandbox) newRunArea(h *hostFeatures, name string, uid int, spec *Spec) (*runArea, error) {
	layOut := s.newDirectoryArea
	if h.hasPrivateMounts {
		layOut = newPrivateArea
	}
	a, err := layOut(name, uid, spec)
	if err != nil {
		return nil, fmt.Errorf("make room for a run: %w", err)
	}
	if err := a.writeFiles(uid, spec); err != nil {
		return nil, errors.Join(fmt.Errorf("write the files of a run: %w", err), a.remove())
	}
	return a, nil
}

// newDirectoryArea creates an area in the file system. The size of its /out is limited only by RLIMIT_FSIZE and the
// disk.
func (s *Sandbox) newDirectoryArea(name string, uid int, spec *Spec) (*runArea, error) {
	// The users of slots must be able to traverse the directory, but not to list it.
	if err := os.MkdirAll(s.config.RunDir, 0o711); err != nil {
		return nil, err
	}
	dir := filepath.Join(s.config.RunDir, name)
	a := &runArea{
		dirToRemove: dir,
		inPath:      filepath.Join(dir, "in"),
		outPath:     filepath.Join(dir, "out"),
		tmpPath:     filepath.Join(dir, "tmp"),
	}
	// Mkdir, unlike MkdirAll, fails if the directory exists: it would belong to another run.
	for _, each := range []string{dir, a.inPath, a.outPath, a.tmpPath} {
		if err := os.Mkdir(each, 0o700); err != nil {
			return nil, errors.Join(err, a.remove())
		}
		if err := chown(each, uid); err != nil {
			return nil, errors.Join(err, a.remove())
		}
	}
	for _, m := range spec.Mounts {
		if _, err := os.Stat(m.HostPath); err != nil && m.Optional {
			continue
		}
		a.bindMounts = append(a.bindMounts, bindMountPaths{host: m.HostPath, inside: m.InsidePath})
	}
	return a, nil
}

func chown(path string, uid int) error {
	if uid < 0 {
		return nil
	}
	return os.Chown(path, uid, uid)
}

// writeFiles writes the run's files and opens its /out.
func (a *runArea) writeFiles(uid int, spec *Spec) error {
	if err := writeFiles(a.inPath, uid, spec.Files); err != nil {
		return err
	}
	if err := writeFiles(a.outPath, uid, spec.WritableFiles); err != nil {
		return err
	}
	var err error
	a.outDir, err = os.Open(a.outPath)
	return err
}

// writeFiles writes files below dir. All of them are executable, because a program may be among them.
func writeFiles(dir string, uid int, files map[string][]byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, content := range files {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the name %q leads out of the run's directory", name)
		}
		name = filepath.Clean(name)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := writeProgram(root, name, content); err != nil {
			return err
		}
		// Parent directories belong to the run's user, too, so that the run can write beside its own files in /out.
		for path := name; uid >= 0 && path != "."; path = filepath.Dir(path) {
			if err := root.Chown(path, uid, uid); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeProgram writes a file that can be executed at once. The lock prevents a concurrent fork: a child that has
// inherited the open file and not called exec yet would make execve fail with "Text file busy".
func writeProgram(root *os.Root, name string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return root.WriteFile(name, content, 0o755)
}

// isOutDirFull reports whether /out has a separate size limit and is full.
func (a *runArea) isOutDirFull() bool {
	var stat unix.Statfs_t
	// A directory shares the disk with others, so the run may not be the cause of a full disk.
	if a.dirToRemove != "" || unix.Fstatfs(int(a.outDir.Fd()), &stat) != nil {
		return false
	}
	return stat.Bfree == 0 || stat.Ffree == 0
}

// remove deletes the run's files.
func (a *runArea) remove() error {
	if a.outDir != nil {
		a.outDir.Close()
	}
	if a.dirToRemove == "" {
		return nil
	}
	if err := removeTree(a.dirToRemove); err != nil {
		return fmt.Errorf("remove the files of a run: %w", err)
	}
	return nil
}

func areaSize(limit int64) int64 {
	if limit == 0 {
		return defaultAreaBytes
	}
	return limit
}
