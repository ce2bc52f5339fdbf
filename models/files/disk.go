package files

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ErrFull says that a content was not kept, because the disk is nearly full.
var ErrFull = errors.New("the site's disk is nearly full")

// Disk is that of a directory. Of what people and workers send, nothing that can be refused is stored while less than MinFree
// bytes are free: a disk that is full ends runs that were accepted.
type Disk struct {
	Dir     string
	MinFree int64 // 0: nothing is refused
}

// Free is how many bytes are free.
func (d Disk) Free() (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(d.Dir, &stat); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", d.Dir, err)
	}
	return int64(stat.Bavail) * stat.Bsize, nil
}

// Full reports whether the disk is nearly full, and how many bytes are free.
func (d Disk) Full() (full bool, free int64, err error) {
	if d.MinFree == 0 {
		return false, 0, nil
	}
	free, err = d.Free()
	return err == nil && free < d.MinFree, free, err
}
