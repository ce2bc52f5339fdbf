package models_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
)

func TestTheDatabaseIsItsOwnersAlone(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0)) // without a umask, as under systemd or in some containers
	for name, made := range map[string]func(dir string){
		"new": func(string) {},
		"made by an older program": func(dir string) {
			s, err := models.Open(t.Context(), models.Config{Dir: dir})
			modelstest.Check(t, err)
			modelstest.Person(t, s, "Ann", accounts.RoleUser)
			modelstest.Check(t, s.Close())
			modelstest.Check(t, os.Chmod(filepath.Join(dir, "warpboard.db"), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			made(dir)
			s, err := models.Open(t.Context(), models.Config{Dir: dir})
			modelstest.Check(t, err)
			defer s.Close()
			modelstest.Person(t, s, "Ben", accounts.RoleUser) // the first write creates the write-ahead log
			files, err := filepath.Glob(filepath.Join(dir, "warpboard.db*"))
			if modelstest.Check(t, err); len(files) != 3 {
				t.Fatalf("the files are %q", files)
			}
			for _, file := range files {
				if info, err := os.Stat(file); err != nil || info.Mode().Perm() != fs.FileMode(0o600) {
					t.Errorf("%s has the rights %v, %v", filepath.Base(file), info.Mode(), err)
				}
			}
		})
	}
}
