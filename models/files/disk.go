package files

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ErrDiskFull means that content was refused because the disk is nearly full.
var ErrDiskFull = errors.New("the site's disk is nearly full")

// SpaceMonitor monitors the free space of a directory. If less than MinFreeBytes bytes are free, the site refuses new
// data from people and workers where possible, so that accepted runs can end.
type SpaceMonitor struct {
	Dir          string
	MinFreeBytes int64 // 0 to refuse nothing
}

// FreeBytes returns the free disk space in bytes.
func (d SpaceMonitor) FreeBytes() (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(d.Dir, &stat); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", d.Dir, err)
	}
	return int64(stat.Bavail) * stat.Bsize, nil
}

// IsNearlyFull reports whether the disk is nearly full, and returns the free disk space in bytes.
func (d SpaceMonitor) IsNearlyFull() (full bool, free int64, err error) {
	if d.MinFreeBytes == 0 {
		return false, 0, nil
	}
	free, err = d.FreeBytes()
	return err == nil && free < d.MinFreeBytes, free, err
}
