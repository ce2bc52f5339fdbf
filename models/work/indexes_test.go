package work

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheIndexesOfLastEndsHaveTheQuerysPriorities checks that the indexes for lastTurnEndSQL contain the query's
// expressions for priorities. Databases use an index only for equal expressions.
func TestTheIndexesOfLastEndsHaveTheQuerysPriorities(t *testing.T) {
	for _, dialect := range []string{"sqlite", "postgres"} {
		var script []byte // text of all migrations
		files, err := filepath.Glob(filepath.Join("../../migrations", dialect, "*.sql"))
		for _, name := range files {
			text, failed := os.ReadFile(name)
			script, err = append(script, text...), errors.Join(err, failed)
		}
		for _, expression := range []string{runPrioritySQL, evaluationPrioritySQL} {
			if !strings.Contains(string(script), "("+expression+"), ended_at)") || err != nil {
				t.Errorf("the script for %s has no index with %q (%v)", dialect, expression, err)
			}
		}
	}
}
