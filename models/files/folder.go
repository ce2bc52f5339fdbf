package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
)

// diskFolder stores each content as one file.
type diskFolder struct {
	dir  string
	disk SpaceMonitor
}

func newFolder(dir string, minFree int64) (diskFolder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return diskFolder{}, fmt.Errorf("making the folder of artifacts: %w", err)
	}
	return diskFolder{dir, SpaceMonitor{dir, minFree}}, nil
}

func (f diskFolder) path(digest string) string { return filepath.Join(f.dir, digest[:2], digest) }

// Put writes a temporary file and renames it, so that a file is complete or missing. It keeps an existing file.
func (f diskFolder) Put(_ context.Context, digest string, data []byte) error {
	path := f.path(digest)
	if err := os.Chtimes(path, time.Time{}, time.Now()); err == nil {
		return nil // the file exists, and its new age protects it from the sweep
	}
	if full, _, err := f.disk.IsNearlyFull(); err != nil || full {
		return cmp.Or(err, ErrDiskFull)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// The temporary file is in the same folder, where Sweep deletes leftovers of a crash.
	return renameio.WriteFile(path, data, 0o600, renameio.WithTempDir(filepath.Dir(path)))
}

// Open opens the file of a content.
func (f diskFolder) Open(_ context.Context, digest string) (File, error) {
	file, err := os.Open(f.path(digest))
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Sweep deletes old files without a reference. It checks the reference before the age, because a new reference first
// renews the age of its file.
func (f diskFolder) Sweep(_ context.Context, before time.Time, named func(string) (bool, error)) error {
	return filepath.WalkDir(f.dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another replica has deleted it
		}
		if err != nil || entry.IsDir() {
			return err
		}
		kept, err := named(entry.Name())
		if err != nil || kept {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Before(before) {
			return nil
		}
		if err == nil {
			err = os.Remove(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}
