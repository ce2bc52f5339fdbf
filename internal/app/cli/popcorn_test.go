package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoginSetsPopcornCLIUpAndKeepsItsOtherRegistration checks that a registration of popcorn-cli with GPU MODE is
// kept.
func TestLoginSetsPopcornCLIUpAndKeepsItsOtherRegistration(t *testing.T) {
	w := newWorld(t)
	for name, tt := range map[string]struct{ before, after, message string }{
		"no file":        {"-", "cli_id: wb_kept\n", "The token is also in"},
		"an empty file":  {"", "cli_id: wb_kept\n", "The token is also in"},
		"an older token": {"cli_id: wb_old\n", "cli_id: wb_kept\n", "The token is also in"},
		"a quoted one":   {"cli_id: 'wb_old'\n", "cli_id: wb_kept\n", "The token is also in"},
		"GPU MODE's":     {"cli_id: 0a1b2c\n", "cli_id: 0a1b2c\n", "replace it with\n  cli_id: wb_kept\n"},
		"more than a token": {"cli_id: wb_old\nother: 1\n", "cli_id: wb_old\nother: 1\n",
			"replace it with\n  cli_id: wb_kept\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w.vars["HOME"] = t.TempDir()
			file := filepath.Join(w.vars["HOME"], ".popcorn.yaml")
			if tt.before != "-" {
				if err := os.WriteFile(file, []byte(tt.before), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.run(t, "login", w.URL, "--popcorn"); err != nil {
				t.Fatal(err)
			}
			if message := w.out.String(); !strings.Contains(message, tt.message) ||
				!strings.Contains(message, "\n  export POPCORN_API_URL="+w.URL+"/popcorn\n") ||
				strings.Contains(message, "wb_kept") == (tt.after == "cli_id: wb_kept\n") {
				t.Errorf("it said\n%s", message)
			}
			text, err := os.ReadFile(file)
			if err != nil || string(text) != tt.after {
				t.Errorf("the file holds %q, %v", text, err)
			}
			if info, err := os.Stat(file); err != nil || tt.before != tt.after && info.Mode().Perm() != 0o600 {
				t.Errorf("others can read it: %v, %v", info.Mode(), err)
			}
		})
	}
	w.vars["HOME"] = ""
	if err := w.run(t, "login", w.URL, "--popcorn"); err != nil ||
		!strings.Contains(w.out.String(), "  cli_id: wb_kept\n") {
		t.Errorf("without a home: %v, %s", err, &w.out)
	}
}
