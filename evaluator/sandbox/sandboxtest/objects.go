package sandboxtest

import (
	"fmt"
	"os"
)

// Objects is a folder for compiled objects of a package's tests, and remove deletes it. scripts/test names one for all
// packages (WARPBOARD_TEST_OBJECTS), since they compile the same judges; the objects' keys are hashes of all inputs. A test
// of compiling itself needs its own folder.
func Objects() (dir string, remove func(), err error) {
	if dir := os.Getenv("WARPBOARD_TEST_OBJECTS"); dir != "" {
		return dir, func() {}, nil
	}
	dir, err = os.MkdirTemp("", "warpboard-objects-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for compiled objects: %w", err)
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}
