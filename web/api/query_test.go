package api_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/tasks"
	"warpboard/web/webtest"
)

// TestTheAPIRefusesValuesThatAParameterCannotHave checks that a value of the wrong type is an error. If it were
// ignored, a mistyped dry_run would publish the task.
func TestTheAPIRefusesValuesThatAParameterCannotHave(t *testing.T) {
	s := webtest.Start(t)
	creator := modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator)
	token, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), creator.ID, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	var bundle bytes.Buffer
	if err := tasks.WriteZip(&bundle, modelstest.Bundle("sum")); err != nil {
		t.Fatal(err)
	}
	for request, want := range map[string]string{
		"GET /api/v1/boards/x/CPU?page=two":              `parameter \"page\" is a whole number, not \"two\"`,
		"GET /api/v1/boards/x/CPU?version=":              `parameter \"version\" is a whole number, not \"\"`,
		"GET /api/v1/submissions?limit=1.5":              `parameter \"limit\" is a whole number`,
		"GET /api/v1/submissions/1?wait=9e3":             `parameter \"wait\" is a whole number`,
		"GET /api/v1/webhooks?site=on":                   `parameter \"site\" is true or false, not \"on\"`,
		"POST /api/v1/tasks/sum?devices=CPU&dry_run=yes": `parameter \"dry_run\" is true or false, not \"yes\"`,
		"POST /api/v1/tasks/sum?devices=CPU&dry_run":     `parameter \"dry_run\" is true or false, not \"\"`,
		"POST /api/v1/tasks/sum?dry_run=2&devices=CPU":   `parameter \"dry_run\" is true or false, not \"2\"`,
		"POST /api/v1/tasks/sum?deadline=someday":        `The deadline \"someday\" is not a time`,
	} {
		method, path, _ := strings.Cut(request, " ")
		resp := s.Ask(method, path, token, bundle.String())
		if text := webtest.Body(t, resp); resp.StatusCode != http.StatusUnprocessableEntity ||
			!strings.Contains(text, want) {
			t.Errorf("%s: %s %s, want %q", request, resp.Status, text, want)
		}
	}
	for _, query := range []string{"dry_run=true", "dry_run=1", "dry_run=1&visibility=hidden&deadline=2031-01-01"} {
		resp := s.Ask("POST", "/api/v1/tasks/sum?devices=CPU&"+query, token, bundle.String())
		if text := webtest.Body(t, resp); resp.StatusCode != http.StatusOK ||
			!strings.Contains(text, `"dry_run":true`) {
			t.Errorf("%s: %s %s", query, resp.Status, text)
		}
	}
	if resp := s.Browser().Get("/api/v1/tasks/sum"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a task was published: %s", resp.Status)
	}
}

// TestTheAPITakesNamesAndTimesAsParameters checks that parameters without a listed type accept any text.
func TestTheAPITakesNamesAndTimesAsParameters(t *testing.T) {
	s := webtest.Start(t)
	for _, path := range []string{"/api/v1/tags/level1/suite?baseline=torch", "/api/v1/events/x?at=2030-01-31T18:00:00Z", "/api/v1/events/x/suite?device=CPU&baseline=torch"} {
		if resp := s.Ask("GET", path, "", ""); resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s %s", path, resp.Status, webtest.Body(t, resp))
		}
	}
}

func TestTheAPIPublishesAProblemOfAnotherBenchmark(t *testing.T) {
	s := webtest.Start(t)
	creator := modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator)
	token, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), creator.ID, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	const model = "import torch, einops\nimport einops\n\nclass Model(torch.nn.Module):\n    pass\n\ndef get_inputs():\n    return []\n"
	resp := s.Ask("POST", "/api/v1/tasks/model?devices=CPU&file=model.py", token, model)
	if text := webtest.Body(t, resp); resp.StatusCode != http.StatusOK ||
		!strings.Contains(text, "The problem imports einops, which its workers must have.") {
		t.Errorf("%s %s", resp.Status, text)
	}
	resp = s.Ask("POST", "/api/v1/tasks/other?devices=CPU&file=other.py", token, "class Model:\n    pass\n")
	if text := webtest.Body(t, resp); resp.StatusCode != http.StatusUnprocessableEntity ||
		!strings.Contains(text, "has no function get_inputs at its top level") {
		t.Errorf("%s %s", resp.Status, text)
	}
	if resp := s.Browser().Get("/api/v1/tasks/model"); resp.StatusCode != http.StatusOK {
		t.Errorf("the task: %s", resp.Status)
	}
}
