package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxOutInodes limits the number of files in /out, because inodes use kernel memory that the size limit does not cover.
// Compilers create thousands of files at most.
const maxOutInodes = 16 << 10

// stagingDir is a mount point for a tmpfs that only the starting thread and bubblewrap see. Every machine has this
// directory, and every user can traverse it, unlike possibly the server's own directory.
const stagingDir = "/tmp"

// newPrivateArea creates an area that only the calling thread and its children see: a mount namespace with tmpfs of
// limited size, and with the binds that the run's user might not be able to reach. It ends with the run, even if the
// server crashes, and needs no cleanup.
func newPrivateArea(_ string, uid int, spec *Spec) (*runArea, error) {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return nil, fmt.Errorf("make a mount namespace: %w", err)
	}
	// Mounts must be private before the first mount, because mounts in a shared tree would propagate to the host and
	// stay there.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("make mounts private: %w", err)
	}
	sources, err := openBindSources(spec.Mounts)
	defer closeAll(sources)
	if err != nil {
		return nil, err
	}
	if err := mountTmpfs(stagingDir, "mode=0755"); err != nil {
		return nil, err
	}
	a := &runArea{inPath: stagingDir + "/in", outPath: stagingDir + "/out"}
	if err := errors.Join(os.Mkdir(a.inPath, 0o755), os.Mkdir(a.outPath, 0o700)); err != nil {
		return nil, err
	}
	size := areaSize(spec.Limits.OutBytes)
	if err := mountTmpfs(a.outPath, fmt.Sprintf("mode=0700,uid=%d,gid=%d,size=%d,nr_inodes=%d", uid, uid, size, maxOutInodes)); err != nil {
		return nil, err
	}
	for i, source := range sources {
		if source == nil {
			continue
		}
		target := filepath.Join(stagingDir, "m"+strconv.Itoa(i))
		if err := bindMount(source, target); err != nil {
			return nil, fmt.Errorf("bind %s: %w", spec.Mounts[i].HostPath, err)
		}
		a.bindMounts = append(a.bindMounts, bindMountPaths{host: target, inside: spec.Mounts[i].InsidePath})
	}
	return a, nil
}

// openBindSources opens the sources of binds before the staging mount covers them. A missing optional source is nil.
func openBindSources(mounts []Mount) ([]*os.File, error) {
	files := make([]*os.File, len(mounts))
	for i, m := range mounts {
		fd, err := unix.Open(m.HostPath, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) && m.Optional {
			continue
		}
		if err != nil {
			return files, fmt.Errorf("open %s to bind it at %s: %w", m.HostPath, m.InsidePath, err)
		}
		files[i] = os.NewFile(uintptr(fd), m.HostPath)
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, file := range files {
		if file != nil {
			file.Close()
		}
	}
}

func mountTmpfs(dir, options string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount a tmpfs at %s: %w", dir, err)
	}
	return nil
}

// bindMount creates target and binds an open file or directory there.
func bindMount(source *os.File, target string) error {
	info, err := source.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = os.Mkdir(target, 0o755)
	} else {
		err = os.WriteFile(target, nil, 0o644)
	}
	if err != nil {
		return err
	}
	// The descriptor is used, because the host path is covered by now and could have been replaced.
	path := "/proc/self/fd/" + strconv.Itoa(int(source.Fd()))
	return unix.Mount(path, target, "", unix.MS_BIND|unix.MS_REC, "")
}
