package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAForeignFolderCannotBlockTheProgram reads pipes, devices, and endless files, all of which must be refused.
func TestAForeignFolderCannotBlockTheProgram(t *testing.T) {
	w := newWorld(t)
	w.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request) {
		t.Errorf("the site was asked: %s %s", r.Method, r.URL)
	})
	for name, make := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"large": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 8<<30)
		},
	} {
		for _, odd := range []string{"kernel.cu", "further.h", projectFile} {
			dir := folder(t, map[string]string{"kernel.cu": "// one\n", "further.h": "// two\n"})
			path := filepath.Join(dir, odd)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			err := w.run(t, "submit", filepath.Join(dir, "kernel.cu"), filepath.Join(dir, "further.h"), "--task", "sum",
				"--server", w.URL)
			if err == nil || !strings.Contains(err.Error(), "is not a regular file") &&
				!strings.Contains(err.Error(), "is larger than") {
				t.Errorf("a %s in place of %s: %v", name, odd, err)
			}
		}
	}
}
