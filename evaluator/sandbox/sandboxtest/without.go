package sandboxtest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Without ends a test for want of something that scripts/setup installs or that only root may do. Where scripts/test runs as
// root, the test fails; on someone's own machine it is skipped.
func Without(tb testing.TB, what string, why error) {
	tb.Helper()
	if os.Getenv("WARPBOARD_TEST") != "" && os.Getuid() == 0 {
		tb.Fatalf("without %s this cannot be tested: %v", what, why)
	}
	tb.Skipf("without %s: %v", what, why)
}

// Disk is the folder of a small separate disk, which the test can fill: 4m, 512m.
func Disk(tb testing.TB, size string) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		Without(tb, "a disk that can be mounted", err)
	}
	tb.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}
