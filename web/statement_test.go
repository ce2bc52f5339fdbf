package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/internal/statement"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
)

// signs gives a site a signing key of its own.
func signs(t *testing.T) func(*Config) {
	return func(c *Config) {
		key, err := statement.KeepKey(filepath.Join(t.TempDir(), "signing.key"))
		if err != nil {
			t.Fatal(err)
		}
		keys, err := c.Store.Statements.NoteSigningKey(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		c.Signing = Signing{Key: key, Keys: keys}
	}
}

func (b *browser) bytes(t *testing.T, path string, status int) []byte {
	t.Helper()
	resp := b.get(path)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		t.Fatalf("%s: %s, %v: %s", path, resp.Status, err, text)
	}
	return text
}

func TestARunsStatementIsVerifiedByThePublishedKey(t *testing.T) {
	s := startSite(t, signs(t))
	author := modelstest.Person(t, s.site.Store, "author", accounts.RoleCreator)
	task := modelstest.Task(t, s.site.Store, author, "sort", "CPU")
	run := modelstest.Submit(t, s.site.Store, author, task)[0]
	modelstest.Finish(t, s.site.Store, run, 5000)
	visitor, admin := s.browser(), s.signedIn("boss", accounts.RoleAdmin)

	address := fmt.Sprintf("/api/v1/runs/%d/statement", run.ID)
	if page := string(visitor.bytes(t, fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK)); !strings.Contains(page, `href="`+address+`"`) {
		t.Error("the run's page does not lead to its statement")
	}
	var keys statement.Keys
	if err := json.Unmarshal(visitor.bytes(t, statement.KeysPath, http.StatusOK), &keys); err != nil {
		t.Fatal(err)
	}
	envelope := visitor.bytes(t, address, http.StatusOK)
	e, err := statement.ReadEnvelope(envelope)
	if err != nil {
		t.Fatal(err)
	}
	said, payload, _, err := keys.Verify(t.Context(), e)
	if err != nil || said.Result.Run != run.ID || said.Result.Score.NS != 5000 {
		t.Errorf("%+v, %v", said, err)
	}
	// A visitor may not read this source: the statement shows that it exists, and no more.
	if bytes.Contains(payload, []byte("int main")) || said.Source() == "" {
		t.Errorf("%s", payload)
	}

	visitor.bytes(t, "/api/v1/chain", http.StatusForbidden)
	chain := admin.bytes(t, "/api/v1/chain", http.StatusOK)
	if found, err := keys.CheckChain(t.Context(), bytes.NewReader(chain)); err != nil || found.Last != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	if rest := admin.bytes(t, "/api/v1/chain?after=1", http.StatusOK); len(rest) > 0 {
		t.Errorf("after the last one: %s", rest)
	}

	boss, err := s.site.Store.Accounts.SignIn(t.Context(), accounts.SignIn{Provider: "test", Subject: "root", Name: "root", Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.site.Store.Disqualify(t.Context(), boss, run.ID, "It prints its own clock."); err != nil {
		t.Fatal(err)
	}
	if text := visitor.bytes(t, address, http.StatusConflict); !bytes.Contains(text, []byte("It prints its own clock.")) {
		t.Errorf("a disqualified run: %s", text)
	}
	if page := string(visitor.bytes(t, fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK)); strings.Contains(page, address) {
		t.Error("a disqualified run's page leads to a statement")
	}
}

func TestAHiddenTasksStatementsAreHiddenToo(t *testing.T) {
	s := startSite(t, signs(t))
	author := modelstest.Person(t, s.site.Store, "author", accounts.RoleCreator)
	task, err := s.site.Store.Catalog.CreateTask(t.Context(), author, catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: catalog.Hidden}, Bundle: modelstest.Bundle("secret")})
	if err != nil {
		t.Fatal(err)
	}
	run := modelstest.Submit(t, s.site.Store, author, task)[0]
	modelstest.Finish(t, s.site.Store, run, 5000)
	s.browser().bytes(t, fmt.Sprintf("/api/v1/runs/%d/statement", run.ID), http.StatusNotFound)
}
