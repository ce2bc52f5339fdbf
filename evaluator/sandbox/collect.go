package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
)

// readOutputFiles reads the named files in dir. All processes that could change them must have ended. The program
// created the files, so they are opened without following links.
func readOutputFiles(dir *os.File, names map[string]int64) (files map[string][]byte, refused map[string]string) {
	files, refused = map[string][]byte{}, map[string]string{}
	for name, size := range names {
		b, err := readOutput(dir, name, size)
		if err != nil {
			refused[name] = err.Error()
			continue
		}
		files[name] = b
	}
	return files, refused
}

// readOutput reads one output file. Its errors are sentences for the author of the program.
func readOutput(dir *os.File, name string, size int64) ([]byte, error) {
	if !filepath.IsLocal(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return nil, fmt.Errorf("the name %q is not that of an output", name)
	}
	// The kernel resolves the whole path in one call. O_NONBLOCK prevents blocking on a FIFO; RESOLVE_NO_XDEV prevents
	// leaving the file system of the area.
	fd, err := unix.Openat2(int(dir.Fd()), name, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	})
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil, errors.New("the file is missing")
	case errors.Is(err, unix.ELOOP):
		return nil, errors.New("the file is a symbolic link, or lies behind one")
	case err != nil:
		return nil, fmt.Errorf("the file cannot be opened: %w", err)
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, fmt.Errorf("the file cannot be examined: %w", err)
	}
	switch {
	case stat.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, errors.New("it is not a regular file")
	// A file with two links may be one that the program may not read.
	case stat.Nlink != 1:
		return nil, fmt.Errorf("the file has %d hard links; it must have one", stat.Nlink)
	case stat.Size > size:
		return nil, fmt.Errorf("the file has %d bytes; at most %d are taken", stat.Size, size)
	}
	content := make([]byte, stat.Size) // one allocation, also for hundreds of megabytes
	n, err := io.ReadFull(file, content)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return content[:n], err
}
