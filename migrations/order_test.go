package migrations_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestANewMigrationComesAfterAllOthers: a database that has a later one refuses to open. Numbers that were never used stay
// unused.
func TestANewMigrationComesAfterAllOthers(t *testing.T) {
	unused := []int{9, 20, 26, 27, 29, 34}
	for _, dialect := range []string{"sqlite", "postgres"} {
		files, err := filepath.Glob(filepath.Join(dialect, "*.sql"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		var missing []int
		next := 1
		for _, file := range slices.Sorted(slices.Values(files)) {
			number, err := strconv.Atoi(filepath.Base(file)[:5])
			if err != nil {
				t.Fatal(err)
			}
			for ; next < number; next++ {
				missing = append(missing, next)
			}
			next = number + 1
		}
		if diff := cmp.Diff(unused, missing); diff != "" {
			t.Errorf("%s: numbers without a migration:\n%s", dialect, diff)
		}
	}
}
