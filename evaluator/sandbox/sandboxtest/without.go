package sandboxtest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Without ends a test that lacks something that scripts/setup installs or that requires root. If scripts/test runs as
// root, the test fails; otherwise it is skipped.
func Without(tb testing.TB, what string, why error) {
	tb.Helper()
	if os.Getenv("WARPBOARD_TEST_PART") != "" && os.Getuid() == 0 {
		tb.Fatalf("without %s this cannot be tested: %v", what, why)
	}
	tb.Skipf("without %s: %v", what, why)
}

// Disk returns a directory on a separate disk of the given size ("4m", "512m"), which the test can fill.
func Disk(tb testing.TB, size string) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		Without(tb, "a disk that can be mounted", err)
	}
	tb.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}
