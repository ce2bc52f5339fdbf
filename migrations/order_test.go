package migrations_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestANewMigrationComesAfterAllOthers checks the numbers of the files, because a database with a higher number refuses
// to open. The folders of both dialects must have the same names.
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
