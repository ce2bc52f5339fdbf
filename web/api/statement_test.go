package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
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
	visitor, admin := s.Browser(), s.SignedIn("boss", accounts.RoleAdmin)

	address := fmt.Sprintf("/api/v1/runs/%d/statement", run.ID)
	if page := string(visitor.Bytes(t, fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK)); !strings.Contains(page, `href="`+address+`"`) {
		t.Error("the run's page does not lead to its statement")
	}
	var keys statement.Keys
	if err := json.Unmarshal(visitor.Bytes(t, statement.KeysPath, http.StatusOK), &keys); err != nil {
		t.Fatal(err)
	}
	envelope := visitor.Bytes(t, address, http.StatusOK)
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

	visitor.Bytes(t, "/api/v1/chain", http.StatusForbidden)
	chain := admin.Bytes(t, "/api/v1/chain", http.StatusOK)
	if found, err := keys.CheckChain(t.Context(), bytes.NewReader(chain)); err != nil || found.Last != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	if rest := admin.Bytes(t, "/api/v1/chain?after=1", http.StatusOK); len(rest) > 0 {
		t.Errorf("after the last one: %s", rest)
	}

	boss, err := s.Cfg.Store.Accounts.SignIn(t.Context(), accounts.SignIn{Provider: "test", Subject: "root", Name: "root", Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Cfg.Store.Disqualify(t.Context(), boss, run.ID, "It prints its own clock."); err != nil {
		t.Fatal(err)
	}
	if text := visitor.Bytes(t, address, http.StatusConflict); !bytes.Contains(text, []byte("It prints its own clock.")) {
		t.Errorf("a disqualified run: %s", text)
	}
	if page := string(visitor.Bytes(t, fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK)); strings.Contains(page, address) {
		t.Error("a disqualified run's page leads to a statement")
	}
}

func TestAHiddenTasksStatementsAreHiddenToo(t *testing.T) {
	s := webtest.Start(t, webtest.Signs(t))
	author := modelstest.Person(t, s.Cfg.Store, "author", accounts.RoleCreator)
	task, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), author, catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: catalog.Hidden}, Bundle: modelstest.Bundle("secret")})
	if err != nil {
		t.Fatal(err)
	}
	run := modelstest.Submit(t, s.Cfg.Store, author, task)[0]
	modelstest.Finish(t, s.Cfg.Store, run, 5000)
	s.Browser().Bytes(t, fmt.Sprintf("/api/v1/runs/%d/statement", run.ID), http.StatusNotFound)
}
