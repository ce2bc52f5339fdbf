package app

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
)

func TestOneDirectoryServesOneProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	release, err := lockDataDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	env := Environment{Getenv: noEnvironment, Stdout: io.Discard, Stderr: io.Discard}
	for _, args := range [][]string{
		{"serve", "--addr", "127.0.0.1:0", "--data", dir},
		{"work", "--nats-url", "nats://127.0.0.1:1", "--worker-secret", "s", "--data", dir},
	} {
		if err := Run(t.Context(), env, args); err == nil ||
			!strings.Contains(err.Error(), "another warpboard is using it") {
			t.Errorf("warpboard %s beside another process: %v", args[0], err)
		}
	}
	release()
	if release, err = lockDataDir(dir); err != nil {
		t.Fatalf("the directory is not free after its process has gone: %v", err)
	}
	release()
}

// TestADirectoryIsFreeSoonAfterItsProcessWasKilled is a regression test: a child that had not reached its exec kept the
// lock for a moment, and the next server did not start.
func TestADirectoryIsFreeSoonAfterItsProcessWasKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		release, err := lockDataDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(maxLockWait/2, release)
		if release, err = lockDataDir(dir); err != nil {
			t.Fatal(err)
		}
		release()
	})
}

func TestATokenOfTheCommandKeepsARole(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	env := Environment{Stdout: &out, Stderr: io.Discard, Getenv: func(name string) string {
		return map[string]string{"WARPBOARD_DATA": dir}[name]
	}}
	for _, args := range [][]string{{"--role", "admin"}, nil} {
		if err := Run(t.Context(), env, append([]string{"token", "--user", "ci"}, args...)); err != nil {
			t.Fatal(err)
		}
	}
	store, err := models.Open(t.Context(), models.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, token := range strings.Fields(out.String()) {
		_, user, err := store.Accounts.TokenUser(t.Context(), token)
		if err != nil || user.Name != "ci" || user.Role != accounts.RoleAdmin {
			t.Errorf("token belongs to %+v: %v", user, err)
		}
	}
}
