package modelstest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// makeCluster creates a PostgreSQL cluster in dir/data. initdb takes more than a second of CPU time, and each test
// package has its own cluster. scripts/test therefore names a folder (WARPBOARD_TEST_CLUSTER) in which the first
// package leaves an unused copy for the others.
func makeCluster(bin, dir string, who *syscall.SysProcAttr) error {
	data, kept := filepath.Join(dir, "data"), os.Getenv("WARPBOARD_TEST_CLUSTER")
	if kept == "" {
		return initCluster(bin, dir, data, who)
	}
	err := copyFolder(kept, data)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := initCluster(bin, dir, data, who); err != nil {
		return err
	}
	return keepCluster(data, kept)
}

func initCluster(bin, dir, data string, who *syscall.SysProcAttr) error {
	// Without a locale texts sort by bytes, as in SQLite.
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "app", "--no-locale", "-E",
		"UTF8", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = dir, who
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

// keepCluster stores a copy of a cluster that has never run, unless another process has done so.
func keepCluster(data, kept string) error {
	making, err := os.MkdirTemp(filepath.Dir(kept), "warpboard-cluster-")
	if err != nil {
		return fmt.Errorf("keep a cluster: %w", err)
	}
	defer os.RemoveAll(making)
	whole := filepath.Join(making, "data")
	if err := copyFolder(data, whole); err != nil {
		return err
	}
	if err := os.Rename(whole, kept); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return fmt.Errorf("keep a cluster: %w", err)
	}
	return nil
}

// copyFolder copies a folder with owners and permissions. It returns fs.ErrNotExist if there is none.
func copyFolder(from, to string) error {
	if _, err := os.Stat(from); err != nil {
		return err
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, out)
	}
	return nil
}
