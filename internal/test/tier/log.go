package tier

import (
	"os"
	"testing"
)

// KeepLog writes the output of a program to a file that is kept after the test, and returns its path, so that a failed
// test prints only its own lines.
func KeepLog(tb testing.TB, output string) (path string) {
	tb.Helper()
	file, err := os.CreateTemp("", "warpboard-test-*.log")
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := file.WriteString(output); err != nil {
		tb.Fatal(err)
	}
	if err := file.Close(); err != nil {
		tb.Fatal(err)
	}
	return file.Name()
}
