package sandboxtest

import (
	"fmt"
	"os"
)

// Objects is a folder for what the tests of a package compile, and remove takes it away. `make test` names one for all
// packages (WARPBOARD_TEST_OBJECTS), which compile the same judges: what is kept goes by the hash of all that went into it.
// A test that looks at compiling itself needs a folder of its own.
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
