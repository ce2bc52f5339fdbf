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

// readRegular reads a regular file of at most most bytes. Pipes, devices, and larger files are refused without reading:
// an untrusted folder may contain them, and reading a pipe could block forever and a device never end.
func readRegular(path string, most int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return readOpened(file, err, path, most)
}

// readBelow is readRegular for a file inside a folder. It refuses links to files outside of the folder: in an untrusted
// repository, a link may lead to secrets on this machine.
func readBelow(dir, name string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return readOpened(file, err, filepath.Join(dir, name), most)
}

func readOpened(file *os.File, err error, path string, most int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, console.UsageError("%s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = console.UsageError("%s is larger than %d bytes", path, most)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return data, nil
}
