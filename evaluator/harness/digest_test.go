package harness

import (
	"regexp"
	"testing"
)

// TestTheDigestCoversAllPrograms: the digest is stable, and not that of empty input.
func TestTheDigestCoversAllPrograms(t *testing.T) {
	if got := Digest(); got != Digest() || !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(got) ||
		got == "e3b0c44298fc" {
		t.Errorf("digest %q", got) // the last one is the digest of an empty input
	}
}
