package statement_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/internal/statement"
)

func TestKeepKeyForItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signing.key")
	var public [2]statement.PublicKey
	for i := range public {
		key, err := statement.ReadOrCreateKey(path)
		if err == nil {
			public[i], err = key.Public(time.Time{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(public[0], public[1]); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := statement.ReadOrCreateKey(path); err == nil || strings.Contains(err.Error(), "no key") {
		t.Errorf("a damaged key: %v", err)
	}
}

func TestNoKeySignsNothing(t *testing.T) {
	if _, err := (statement.SigningKey{}).Sign(statement.Statement{}); err == nil {
		t.Error("no key signed it")
	}
}
