// Package tier selects the tests to run.
//
// `go test ./...` and `make test` run the small tier: every test that does not call [Needs]. A test that needs more
// calls it, directly or through the helper that provides a database, a browser window, or an arena, and is skipped in
// the small tier with the name of the target that runs it. The variable WARPBOARD_TEST_PART lists the available needs,
// separated by commas, or is "all".
package tier

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Need is something that tests require and that only a part of `make test-all` provides. The part has the same name:
// `make test-NEED`.
type Need string

// Needs of tests. TESTING.md describes the parts.
const (
	Postgres Need = "postgres" // tests on PostgreSQL that the small tier runs only on SQLite
	Browser  Need = "browser"  // tests in Chromium
	Judge    Need = "judge"    // minutes of compiling, and of judges, beyond one of each language
	Torch    Need = "torch"    // tests that need PyTorch with its headers, or mypy
	Faults   Need = "faults"   // processes that are killed, full disks, networks cut, or programs that only deployments use
	Attacks  Need = "attacks"  // kernels that cheat, and a second of each fuzz target
	Timed    Need = "timed"    // an otherwise idle machine, because times or processor seconds are compared
)

// Needs skips the test if the need is not available.
func Needs(tb testing.TB, n Need) {
	tb.Helper()
	if !Has(tb, n) {
		tb.Skipf("runs with: make test-%s", n)
	}
}

// Has reports whether the need is available.
func Has(tb testing.TB, n Need) bool {
	tb.Helper()
	served := strings.Split(os.Getenv("WARPBOARD_TEST_PART"), ",")
	has := slices.Contains(served, "all") || slices.Contains(served, string(n))
	record(tb, n, map[bool]string{true: "ran", false: "skipped"}[has])
	return has
}

// record appends the name of a test to the file in WARPBOARD_TEST_LEDGER. scripts/test uses it to compare the tests
// skipped in the small tier with those that ran in the parts.
func record(tb testing.TB, n Need, state string) {
	tb.Helper()
	path := os.Getenv("WARPBOARD_TEST_LEDGER")
	if path == "" {
		return
	}
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := fmt.Fprintf(file, "%s\t%s\t%s\t%s\n", state, n, dir, tb.Name()); err != nil {
		tb.Fatal(err)
	}
	if err := file.Close(); err != nil {
		tb.Fatal(err)
	}
}
