package migrations_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestANewMigrationComesAfterAllOthers: a database that has a later one refuses to open. Both folders have the same
// names.
func TestANewMigrationComesAfterAllOthers(t *testing.T) {
	var names [2][]string
	for i, dialect := range []string{"sqlite", "postgres"} {
		files, err := os.ReadDir(dialect)
		if err != nil {
			t.Fatal(err)
		}
		for k, file := range files {
			names[i] = append(names[i], file.Name())
			if number := fmt.Sprintf("%05d", lastOfOld+k); file.Name()[:5] != number {
				t.Errorf("%s/%s: its number is not %s", dialect, file.Name(), number)
			}
		}
	}
	if diff := cmp.Diff(names[0], names[1]); diff != "" || len(names[0]) == 0 {
		t.Errorf("files (-sqlite +postgres):\n%s", diff)
	}
}
