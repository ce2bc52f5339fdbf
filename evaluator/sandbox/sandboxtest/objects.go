package sandboxtest

import (
	"fmt"
	"os"
)

// Objects returns a directory for objects that a package's tests compile, and a function that removes it. scripts/test
// sets one directory for all packages (WARPBOARD_TEST_OBJECTS), because they compile the same judges and the keys of
// objects are hashes of all inputs. A test of compiling itself needs a separate directory.
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
