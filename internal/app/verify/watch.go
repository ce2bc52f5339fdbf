package verify

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"warpboard/tasks"
)

// fileSettleDelay is the time for which the files must be unchanged before a check: an editor writes all files of one
// save within it. A longer delay makes each check later; with a shorter one, a check may run between two files.
const fileSettleDelay = 200 * time.Millisecond

// watchAndCheck checks once, and again after every change, until ctx ends. Problems are reported, and watching
// continues.
func (v *verifier) watchAndCheck(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("--watch: %w", err)
	}
	defer watcher.Close()
	for {
		if err := v.watchFolders(watcher); err != nil {
			return fmt.Errorf("--watch: %w", err)
		}
		// The fingerprint is computed before the round, so that changes during the round start another one.
		seen := v.hashFiles()
		if err := v.checkOnce(ctx); ctx.Err() != nil {
			return nil
		} else if err != nil {
			fmt.Fprintln(v.env.Stderr, "warpboard:", err)
		}
		fmt.Fprintf(v.env.Stderr, "%s: waiting for a change of %s\n", time.Now().Format(time.TimeOnly), v.path)
		if !v.waitForChange(ctx, watcher, seen) {
			return nil
		}
	}
}

// watchFolders watches every folder with files of the tasks. A task may use files from two folders above its own. It is
// called after each change to add new folders.
func (v *verifier) watchFolders(watcher *fsnotify.Watcher) error {
	top := v.path
	if filepath.Base(top) == tasks.TaskFile {
		top = filepath.Dir(top)
	}
	info, err := os.Stat(top)
	if err != nil {
		return err
	}
	for _, file := range v.options.solutionFiles {
		if err := watcher.Add(filepath.Dir(file)); err != nil {
			return err
		}
	}
	if !info.IsDir() {
		return watcher.Add(filepath.Dir(top))
	}
	if _, err := os.Lstat(filepath.Join(top, tasks.TaskFile)); err == nil {
		for _, above := range []string{"..", "../.."} {
			if err := watcher.Add(filepath.Join(top, above)); err != nil {
				return err
			}
		}
	}
	return filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path != top:
			return nil // removed in the meantime
		case err != nil || !d.IsDir():
			return err
		case path != top && strings.HasPrefix(d.Name(), ".") || filepath.Clean(path) == filepath.Clean(v.options.machine.DataDir):
			return fs.SkipDir
		}
		return watcher.Add(path)
	})
}

// waitForChange waits until the contents of the checked files are different. It returns false if ctx ended. File system
// events are not enough, because other files in the folders change, too, and editors write copies.
func (v *verifier) waitForChange(ctx context.Context, watcher *fsnotify.Watcher, seen [sha256.Size]byte) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-watcher.Errors: // an error means that some events were lost
		case <-watcher.Events:
		}
		for quiet := time.After(fileSettleDelay); quiet != nil; {
			select {
			case <-watcher.Errors:
			case <-watcher.Events:
			case <-quiet:
				quiet = nil
			}
		}
		// A folder may be missing for a moment while an editor replaces it.
		if v.watchFolders(watcher) == nil && v.hashFiles() != seen {
			return true
		}
	}
}

// hashFiles returns a hash of the checked files. It reads all of them; folders of tasks have a few megabytes.
func (v *verifier) hashFiles() (sum [sha256.Size]byte) {
	h := sha256.New()
	defer func() { h.Sum(sum[:0]) }()
	for _, file := range v.options.solutionFiles {
		source, err := os.ReadFile(file)
		fmt.Fprintf(h, "%q %v\n", source, err)
	}
	upload, proposals, err := openTasks(v.path)
	if err != nil {
		fmt.Fprintln(h, err)
		return sum
	}
	defer upload.Close()
	for _, p := range proposals {
		fmt.Fprintln(h, p.Folder, p.Name, p.GPUs, p.Err)
		if p.Bundle == nil {
			continue
		}
		solutions, err := upload.Solutions(p.Folder)
		fmt.Fprintln(h, p.Bundle.ContentHash(), p.Bundle.Warnings, err)
		for _, s := range solutions {
			fmt.Fprintf(h, "%s %t %q\n", s.Name, s.ShouldPass, s.Submission().Pack())
		}
	}
	return sum
}
