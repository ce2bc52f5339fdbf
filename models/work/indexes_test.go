package work

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheIndexesOfLastEndsHaveTheQuerysPriorities: a database does not use them for other expressions.
func TestTheIndexesOfLastEndsHaveTheQuerysPriorities(t *testing.T) {
	for _, dialect := range []string{"sqlite", "postgres"} {
		script, err := os.ReadFile(filepath.Join("../../migrations", dialect, "00074_last_ends.sql"))
		for _, expression := range []string{runPriority, evaluationPriority} {
			if !strings.Contains(string(script), "("+expression+"), ended_at)") || err != nil {
				t.Errorf("the script for %s has no index with %q (%v)", dialect, expression, err)
			}
		}
	}
}
