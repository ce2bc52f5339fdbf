package web_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/web"
	"warpboard/web/webtest"
)

// TestAlertsAndDashboardUseMetricsThatExist, of a site on which something has happened, and are proper PromQL. Each alert
// fires in its case of testdata/alerts_test.yaml, whose series have labels that the site exports.
func TestAlertsAndDashboardUseMetricsThatExist(t *testing.T) {
	s := webtest.NewScene(t, func(c *web.Config) { c.Queue = &webtest.SickQueue{} })
	s.BrowserOf(s.Admin).Post("/devices/H200/pause", nil)
	exported := webtest.Body(t, s.Browser().Get("/metrics"))
	for _, file := range []string{"../deploy/alerts.yaml", "../deploy/grafana.json", "../deploy/kubernetes/keda.yaml", "testdata/alerts_test.yaml"} {
		names := regexp.MustCompile(`warpboard_[a-z_]+`).FindAllString(read(t, file), -1)
		if len(names) == 0 {
			t.Errorf("%s names no metric", file)
		}
		for _, name := range names {
			if !strings.Contains(exported, "\n"+name+"{") && !strings.Contains(exported, "\n"+name+" ") {
				t.Errorf("%s uses %s, which the site does not export", file, name)
			}
		}
	}
	cases := read(t, "testdata/alerts_test.yaml")
	for _, series := range regexp.MustCompile(`(warpboard_[a-z_]+)\{(\w+)=.*instance`).FindAllStringSubmatch(cases, -1) {
		if series[2] != "instance" && !strings.Contains(exported, "\n"+series[1]+"{"+series[2]+"=") {
			t.Errorf("%s has no label %s", series[1], series[2])
		}
	}
	for _, alert := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(read(t, "../deploy/alerts.yaml"), -1) {
		if strings.Count(cases, "alertname: "+alert[1]+",") == 0 || strings.Count(cases, "alertname: "+alert[1]+" ") == 0 {
			t.Errorf("no case of %s, or none beside it", alert[1])
		}
	}
	tool := debianTool(t, "promtool")
	dashboard := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(dashboard, dashboardRules(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", "../deploy/alerts.yaml", dashboard}, {"test", "rules", "testdata/alerts_test.yaml"}, {"check", "metrics"}} {
		cmd := exec.Command(tool, args...)
		cmd.Stdin = strings.NewReader(exported)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// dashboardRules are the dashboard's expressions as rules, which promtool reads.
func dashboardRules(t *testing.T) []byte {
	t.Helper()
	var board struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal([]byte(read(t, "../deploy/grafana.json")), &board); err != nil {
		t.Fatal(err)
	}
	var rules bytes.Buffer
	fmt.Fprintln(&rules, "groups: [ { name: dashboard, rules: [")
	n := 0
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			n++
			expr, _ := json.Marshal(target.Expr)
			fmt.Fprintf(&rules, "{ record: 'panel:%d', expr: %s },\n", n, expr)
		}
	}
	fmt.Fprintln(&rules, "] } ]")
	if n == 0 {
		t.Fatal("the dashboard shows nothing")
	}
	return rules.Bytes()
}

// debianTool is a program that scripts/setup takes from a Debian package into .bin/.
func debianTool(t *testing.T, name string) string {
	t.Helper()
	here, _ := filepath.Abs("../.bin/" + name)
	for _, path := range []string{here, name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	sandboxtest.Without(t, name, exec.ErrNotFound)
	return ""
}

func TestMetricsSayWhenTheQueueCarriesNothing(t *testing.T) {
	s := webtest.Start(t, func(c *web.Config) { c.Queue = &webtest.SickQueue{Err: errors.New("no server")} })
	if text := webtest.Body(t, s.Browser().Get("/metrics")); !slices.Contains(strings.Split(text, "\n"), "warpboard_queue_up 0") {
		t.Error("the queue is said to be up")
	}
}
