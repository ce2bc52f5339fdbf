package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
)

// signing makes the site accept only Ada's token, wb_kept. It returns the requests with that token, which later
// requests extend.
func (w *world) signing() *[]string {
	asked := &[]string{}
	login := w.Config.Handler
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/v1/login"):
			login.ServeHTTP(rw, r)
			return
		case r.Header.Get("Authorization") != "Bearer wb_kept":
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		*asked = append(*asked, r.Method+" "+r.URL.Path)
		switch r.URL.Path {
		case "/api/v1/me":
			json.NewEncoder(rw).Encode(client.User{ID: 1, Name: "Ada", Role: "user"})
		case "/api/v1/tokens":
			json.NewEncoder(rw).Encode(map[string]any{"tokens": []client.Token{{ID: 4, Name: "another"},
				{ID: 5, Name: "this", UsedByThisRequest: true}}})
		default:
			rw.WriteHeader(http.StatusNoContent)
		}
	})
	return asked
}

func TestAuthStatusAsksEachSiteAndExitsByTheChosenOne(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.signing()
	other.signing()
	if err := w.run(t, "auth", "status", "--server", w.URL); console.ExitCode(err) != console.ExitNotSignedIn ||
		!strings.Contains(err.Error(), "warpboard login "+w.URL) {
		t.Errorf("before signing in: exit %d, %v", console.ExitCode(err), err)
	}
	for name, site := range map[string]*world{"lab": other, "home": w} {
		if err := w.run(t, "login", site.URL, "--name", name); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(w.vars["WARPBOARD_SITES"])
	if err == nil {
		err = os.WriteFile(w.vars["WARPBOARD_SITES"],
			[]byte(strings.Replace(string(text), "default = \"lab\"", "default = \"home\"", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.run(t, "auth", "status"); err != nil ||
		!strings.Contains(w.out.String(), w.URL+" (home), which is asked\n  signed in as Ada (user)\n"+other.URL+
			" (lab)\n  signed in as Ada (user)\n") {
		t.Errorf("%v\n%s", err, &w.out)
	}
	if err := w.run(t, "auth", "status", "--jq", ".[] | select(.default).user.name"); err != nil ||
		w.out.String() != "Ada\n" {
		t.Errorf("%v, %s", err, &w.out)
	}
	if err := w.run(t, "auth", "status", "--token", "old"); console.ExitCode(err) != console.ExitNotSignedIn ||
		!strings.Contains(err.Error(), "does not accept this token") {
		t.Errorf("with another token: exit %d, %v", console.ExitCode(err), err)
	}
}

func TestLogoutRemovesTheTokenEvenIfTheSiteIsAway(t *testing.T) {
	w := newWorld(t)
	asked := w.signing()
	for _, c := range []struct {
		args []string
		want string
		sent []string
	}{
		{nil, "is gone from this machine, and revoked.", []string{"GET /api/v1/tokens", "DELETE /api/v1/tokens/5"}},
		{[]string{"--keep"}, "and kept at the site.", nil},
	} {
		if err := w.run(t, "login", w.URL, "--name", "home"); err != nil {
			t.Fatal(err)
		}
		*asked = nil
		if err := w.run(t, append([]string{"logout", "home"}, c.args...)...); err != nil ||
			!strings.Contains(w.out.String(), c.want) || cmp.Diff(c.sent, *asked) != "" {
			t.Errorf("%v: %v, %s after %q", c.args, err, &w.out, *asked)
		}
	}
	if err := w.run(t, "login", w.URL, "--name", "home"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := w.run(t, "logout"); err != nil || !strings.Contains(w.out.String(), "not revoked") ||
		!strings.Contains(w.out.String(), "/me") {
		t.Errorf("from a site that is away: %v, %s", err, &w.out)
	}
	if err := w.run(t, "logout", "home"); console.ExitCode(err) != console.ExitUsage {
		t.Errorf("from no site: %v", err)
	}
}

func TestTokensAndWebhooksAreManagedByCommands(t *testing.T) {
	w := newWorld(t)
	var asked []string
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+string(body)))
		if r.Method == http.MethodDelete || strings.HasSuffix(r.URL.Path, "/test") {
			rw.WriteHeader(http.StatusNoContent)
			return
		}
		if r.Method == http.MethodPatch {
			rw.Write([]byte(`{"id": "f1", "shared": true}`))
			return
		}
		rw.Write([]byte(`{"id": 3, "secret": "whsec_x", "events": ["run.ended"], "tokens": [{"id": 4, "name": "laptop"}], "deliveries": [{"id": 9, "event": "run.ended"}], "webhooks": [{"id": 3, "url": "https://a"}]}`))
	})
	for line, want := range map[string]struct{ request, output string }{
		"auth tokens":   {"GET /api/v1/tokens", "laptop"},
		"auth revoke 4": {"DELETE /api/v1/tokens/4", "token 4 is revoked"},
		"webhook list":  {"GET /api/v1/webhooks", "https://a"},
		"webhook create https://a --event run.ended": {`POST /api/v1/webhooks {"url":"https://a","events":["run.ended"]}`, "whsec_x"},
		"webhook delete 3":                           {"DELETE /api/v1/webhooks/3", "webhook 3 is deleted"},
		"webhook test 3":                             {"POST /api/v1/webhooks/3/test", "warpboard webhook log 3"},
		"webhook log 3 --before 9":                   {"GET /api/v1/webhooks/3/deliveries?before=9", "run.ended"},
		"webhook redeliver 3 9":                      {"POST /api/v1/webhooks/3/deliveries/9/redeliver", "sent again"},
		"share f1284db1-d41d-40fd-84f5-c1c745241af4": {`PATCH /api/v1/evaluations/f1284db1-d41d-40fd-84f5-c1c745241af4 {"shared":true}`, w.URL + "/evaluations/"},
		"share f1284db1-d41d-40fd-84f5-c1c7 --off":   {`PATCH /api/v1/evaluations/f1284db1-d41d-40fd-84f5-c1c7 {"shared":false}`, "evaluation"},
		"webhook delete 3 --jq .id":                  {"DELETE /api/v1/webhooks/3", "3\n"},
		"webhook list --site":                        {"GET /api/v1/webhooks?site=1", "https://a"},
	} {
		asked = nil
		if err := w.run(t, append(strings.Fields(line), "--server", w.URL)...); err != nil || len(asked) != 1 ||
			asked[0] != want.request || !strings.Contains(w.out.String(), want.output) {
			t.Errorf("%s: %v, asked for %q, said %s", line, err, asked, &w.out)
		}
	}
}

// TestAnOlderCommandGetsANotice checks that the notice about a newer site is printed only after a failure, or on a
// terminal.
func TestAnOlderCommandGetsANotice(t *testing.T) {
	w := newWorld(t)
	agent, status := "", http.StatusNotFound
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		agent = r.Header.Get("User-Agent")
		rw.Header().Set(client.VersionHeader, "v1.3.0 0123456789ab")
		rw.WriteHeader(status)
		fmt.Fprint(rw, `{"id": 1, "detail": "There is no submission 1."}`)
	})
	for version, older := range map[string]bool{"v1.2.0 abcdef": true, "v1.3.0": false, "v1.10.0": false,
		"(devel)": false, "": false} {
		w.version = version
		err := w.run(t, "show", "1", "--server", w.URL)
		if warned := strings.Contains(w.out.String(),
			"this command (v1.2.0 abcdef) is older than the site (v1.3.0"); err == nil || warned != older {
			t.Errorf("%q: %v\n%s", version, err, &w.out)
		}
		if want := strings.TrimSuffix("warpboard-client/"+strings.TrimSuffix(version, " abcdef"), "/"); agent != want {
			t.Errorf("the site hears %q, want %q", agent, want)
		}
	}
	w.version, status = "v1.2.0", http.StatusOK
	if err := w.run(t, "show", "1", "--server", w.URL); err != nil || strings.Contains(w.out.String(), "older") {
		t.Errorf("what goes well in a pipe says more than was asked: %v\n%s", err, &w.out)
	}
}

func TestJQPrintsTextsAsTheyAreAndRefusesWhatItCannotRead(t *testing.T) {
	w := newWorld(t)
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Write([]byte(`{"id": 1, "task": "a<b", "mode": "test", "runs": [{"id": 2, "device": "CPU"}, {"id": 3, "device": "H200"}]}`))
	})
	for expression, want := range map[string]string{".task": "a<b\n", ".runs[].id": "2\n3\n",
		`.runs | map(.device)`: "[\"CPU\",\"H200\"]\n", "empty": "", `.runs[5]`: "null\n"} {
		if err := w.run(t, "show", "1", "--server", w.URL, "--jq", expression); err != nil || w.out.String() != want {
			t.Errorf("%s: %v, %q, want %q", expression, err, w.out.String(), want)
		}
	}
	for _, expression := range []string{".runs[", "nothing(1)", ".task.x"} {
		if err := w.run(t, "show", "1", "--server", w.URL, "--jq",
			expression); console.ExitCode(err) != console.ExitUsage {
			t.Errorf("%s: exit %d, %v", expression, console.ExitCode(err), err)
		}
	}
}

func TestAKernelIsSubmittedFromTheStandardInput(t *testing.T) {
	w := newWorld(t)
	var in client.NewSubmission
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			in = client.NewSubmission{}
			json.NewDecoder(r.Body).Decode(&in)
		}
		rw.Write([]byte(`{"id": 1}`))
	})
	w.stdin = "int x;\n"
	if err := w.run(t, "submit", "-", "--task", "sum", "--server", w.URL); err != nil || in.Source != "int x;\n" ||
		in.FileName != "" || in.Task != "sum" {
		t.Errorf("%v: %+v", err, in)
	}
	w.stdin = "\xff"
	if err := w.run(t, "submit", "-", "--task", "sum", "--server", w.URL); console.ExitCode(err) != console.ExitUsage {
		t.Errorf("what is not UTF-8: %v", err)
	}
	w.stdin = "int x;\n"
	if err := w.run(t, "submit", "-", "--server", w.URL); console.ExitCode(err) != console.ExitUsage ||
		!strings.Contains(err.Error(), "--task TASK") {
		t.Errorf("without a task: %v", err)
	}
}

func TestAShellIsOfferedValues(t *testing.T) {
	w := newWorld(t)
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Write([]byte(`{"tasks": [{"slug": "sum", "devices": ["CPU"]}], "devices": [{"device": "H200"}], "submissions": [{"id": 16, "task": "sum", "mode": "ranked"}]}`))
	})
	for line, want := range map[string]string{
		"submit --mode ":              "ranked\n",
		"submit --task ":              "sum\n",
		"submit --device ":            "H200\n",
		"submit --task sum --device ": "CPU\n",
		"watch ":                      "16\tsum ranked\n",
		"compare 16 ":                 "16\tsum ranked\n",
		"profile get --format ":       "ncu-rep\n",
		"ci --fail-on ":               "slower\n",
		"board sum ":                  "CPU\n",
		"task show ":                  "sum\n",
		"task pull ":                  "sum\n",
		"webhook create x --event ":   "record.taken\n",
	} {
		words := strings.Split(line, " ")
		args := append([]string{"__complete", words[0], "--server", w.URL}, words[1:]...)
		if err := w.run(t, args...); err != nil || !strings.Contains(w.out.String(), want) {
			t.Errorf("%s: %v, %q, want %q", line, err, w.out.String(), want)
		}
	}
}
