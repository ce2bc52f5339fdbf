package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/internal/statement"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

func TestARunsStatementIsVerifiedByThePublishedKey(t *testing.T) {
	s := webtest.Start(t, webtest.Signs(t))
	author := modelstest.Person(t, s.Cfg.Store, "author", accounts.RoleCreator)
	task := modelstest.Task(t, s.Cfg.Store, author, "sort", "CPU")
	run := modelstest.Submit(t, s.Cfg.Store, author, task)[0]
	modelstest.Finish(t, s.Cfg.Store, run, 5000)
	visitor := s.Browser()

	address := fmt.Sprintf("/api/v1/runs/%d/statement", run.ID)
	if page := string(visitor.Bytes(t, fmt.Sprintf("/submissions/%d", run.SubmissionID),
		http.StatusOK)); !strings.Contains(page, `href="`+address+`"`) {
		t.Error("the run's page does not lead to its statement")
	}
	visitor.Bytes(t, "/api/v1/chain", http.StatusNotFound)
	payload := opensslVerifies(t, visitor.Bytes(t, address, http.StatusOK),
		visitor.Bytes(t, statement.PublicKeysPath, http.StatusOK))
	var stated statement.Statement
	if err := json.Unmarshal(payload, &stated); err != nil || stated.Result.Run != run.ID ||
		stated.Result.Score.NS != 5000 {
		t.Errorf("%+v, %v", stated, err)
	}
	// Visitors may not read the run's source, so the statement has only the source's hash.
	if bytes.Contains(payload, []byte("int main")) || len(stated.Subject[0].Digest.SHA256) != 64 {
		t.Errorf("%s", payload)
	}

	boss, err := s.Cfg.Store.Accounts.SignIn(t.Context(),
		accounts.ProviderSignIn{Provider: "test", Subject: "root", Name: "root", IsAdmin: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Cfg.Store.Disqualify(t.Context(), boss, run.ID, "It prints its own clock."); err != nil {
		t.Fatal(err)
	}
	if text := visitor.Bytes(t, address, http.StatusConflict); !bytes.Contains(text,
		[]byte("It prints its own clock.")) {
		t.Errorf("a disqualified run: %s", text)
	}
	if page := string(visitor.Bytes(t, fmt.Sprintf("/submissions/%d", run.SubmissionID),
		http.StatusOK)); strings.Contains(page, address) {
		t.Error("a disqualified run's page leads to a statement")
	}
}

// opensslVerifies runs the commands of docs/measuring.md, which verify a signed statement with the published keys, and
// returns the statement.
func opensslVerifies(t *testing.T, envelope, keys []byte) []byte {
	t.Helper()
	doc, err := os.ReadFile("../../docs/measuring.md")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(doc), "statement > envelope.json\n")
	recipe, _, _ = strings.Cut(recipe, "```")
	_, recipe, found := strings.Cut(recipe, "| jq -r") // replaces the download of the keys in the commands by a file
	dir := t.TempDir()
	for name, text := range map[string][]byte{"envelope.json": envelope, "keys.json": keys} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", "cat keys.json | jq -r"+recipe)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !found ||
		!strings.Contains(string(out), "Signature Verified Successfully") {
		t.Errorf("%s: %v", out, err)
	}
	payload, err := os.ReadFile(filepath.Join(dir, "statement.json"))
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func TestAHiddenTasksStatementsAreHiddenToo(t *testing.T) {
	s := webtest.Start(t, webtest.Signs(t))
	author := modelstest.Person(t, s.Cfg.Store, "author", accounts.RoleCreator)
	task, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), author, catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: catalog.Hidden},
		Bundle:       modelstest.Bundle("secret")})
	if err != nil {
		t.Fatal(err)
	}
	run := modelstest.Submit(t, s.Cfg.Store, author, task)[0]
	modelstest.Finish(t, s.Cfg.Store, run, 5000)
	s.Browser().Bytes(t, fmt.Sprintf("/api/v1/runs/%d/statement", run.ID), http.StatusNotFound)
}
