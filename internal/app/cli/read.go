package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"warpboard/internal/app/cli/console"
)

// maxRequestBytes limits the size of a file with an evaluation request, in bytes: it may contain tensors.
const maxRequestBytes = 16 << 20

// readRegularFile reads a regular file of at most limit bytes. Pipes, devices, and larger files are refused without
// reading: an untrusted folder may contain them, and reading a pipe could block forever and a device never end.
func readRegularFile(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return readOpenedFile(file, err, path, limit)
}

// readInsideFolder reads a file inside a folder as readRegularFile does. It refuses links to files outside of the
// folder: in an untrusted repository, a link may lead to secrets on this machine.
func readInsideFolder(dir, name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return readOpenedFile(file, err, filepath.Join(dir, name), limit)
}

func readOpenedFile(file *os.File, err error, path string, limit int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, console.NewUsageError("%s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = console.NewUsageError("%s is larger than %d bytes", path, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return data, nil
}
