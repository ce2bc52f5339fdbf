package sandbox_test

import (
	"os"

	"golang.org/x/sys/unix"
)

// openInheritable opens a file that later programs inherit.
func openInheritable(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}
