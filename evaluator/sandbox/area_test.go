package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestAProgramCanBeExecutedAsSoonAsItIsWritten checks that no concurrent fork inherits the open file of a program:
// execve would then return "Text file busy".
func TestAProgramCanBeExecutedAsSoonAsItIsWritten(t *testing.T) {
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		dir := t.TempDir()
		all.Go(func() {
			for range 50 {
				if err := writeFiles(dir, -1, map[string][]byte{"program": program}); err != nil {
					t.Error(err)
				}
				if err := exec.Command(filepath.Join(dir, "program")).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
