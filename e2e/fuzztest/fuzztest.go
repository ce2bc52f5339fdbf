package fuzztest

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"warpboard/internal/test/tier"
)

// Moment runs the fuzz target for a second in a separate process with one processor, as a part of `make test-attacks`.
// Inside that process it does nothing.
func Moment(f *testing.F) {
	f.Helper()
	const moment = "1s"
	if !tier.Has(f, tier.Attacks) || flag.Lookup("test.fuzz").Value.String() != "" {
		return
	}
	exe, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	cmd := exec.CommandContext(f.Context(), exe, "-test.run=^$", "-test.fuzz=^"+f.Name()+"$", "-test.fuzztime="+moment,
		"-test.fuzzcachedir="+f.TempDir(), "-test.timeout=2m")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		f.Logf("fuzzed for %s: nothing found", moment)
		return
	}
	// On a busy machine Go may report the end of the fuzz time as a failure; only a failing input in the output counts.
	if text := string(out); !strings.Contains(text, "context deadline exceeded") || strings.Contains(text, "Failing input") {
		f.Fatalf("fuzzing for %s: %v\n%s", moment, err, text)
	}
}
