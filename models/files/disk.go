package files

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ErrDiskFull means that content was refused because the disk is nearly full.
var ErrDiskFull = errors.New("the site's disk is nearly full")

// Disk monitors the free space of a directory. If less than MinFree bytes are free, the site refuses new data from
// people and workers where possible, so that accepted runs can end.
type Disk struct {
	Dir     string
	MinFree int64 // 0 to refuse nothing
}

// Free returns the free disk space in bytes.
func (d Disk) Free() (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(d.Dir, &stat); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", d.Dir, err)
	}
	return int64(stat.Bavail) * stat.Bsize, nil
}

// IsNearlyFull reports whether the disk is nearly full, and returns the free disk space in bytes.
func (d Disk) IsNearlyFull() (full bool, free int64, err error) {
	if d.MinFree == 0 {
		return false, 0, nil
	}
	free, err = d.Free()
	return err == nil && free < d.MinFree, free, err
}
