package tier

import (
	"os"
	"testing"
)

// KeepLog writes a program's output to a file that stays after the test, and returns the file's name, so that a failure
// prints only its own lines.
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
