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

	"go.yaml.in/yaml/v3"

	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
	"warpboard/web"
	"warpboard/web/webtest"
)

// TestAlertsAndDashboardUseMetricsThatExist checks that a site with some activity exports each metric that the files in
// deploy/ use, and that the expressions are valid PromQL. Each alert fires in its case of testdata/alerts_test.yaml.
func TestAlertsAndDashboardUseMetricsThatExist(t *testing.T) {
	s := webtest.NewScene(t, func(c *web.Config) { c.Queue = &webtest.SickQueue{} })
	s.BrowserOf(s.Admin).Post("/devices/H200/pause", nil)
	exported := webtest.Body(t, s.Browser().Get("/metrics"))
	for _, file := range []string{"../deploy/alerts.yaml", "../deploy/grafana.json", "../deploy/kubernetes/keda.yaml",
		"testdata/alerts_test.yaml"} {
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
	for _, series := range regexp.MustCompile(`(warpboard_[a-z_]+)\{(\w+)=.*instance`).FindAllStringSubmatch(cases,
		-1) {
		if series[2] != "instance" && !strings.Contains(exported, "\n"+series[1]+"{"+series[2]+"=") {
			t.Errorf("%s has no label %s", series[1], series[2])
		}
	}
	for _, alert := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(read(t, "../deploy/alerts.yaml"),
		-1) {
		if strings.Count(cases, "alertname: "+alert[1]+",") == 0 ||
			strings.Count(cases, "alertname: "+alert[1]+" ") == 0 {
			t.Errorf("no case of %s, or none beside it", alert[1])
		}
	}
	tool := debianTool(t, "promtool")
	dashboard := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(dashboard, dashboardRules(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", "../deploy/alerts.yaml", dashboard},
		{"test", "rules", "testdata/alerts_test.yaml"}, {"check", "metrics"}} {
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

// dashboardRules returns the dashboard's expressions as a rule file, which promtool can check.
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
	tier.Needs(t, tier.Faults)
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
	if text := webtest.Body(t, s.Browser().Get("/metrics")); !slices.Contains(strings.Split(text, "\n"),
		"warpboard_queue_up 0") {
		t.Error("the queue is said to be up")
	}
}

// TestRecipesGiveFewRights checks that the deployment files drop privileges and pin images by digest, because a tag can
// point to another image later. They must not trust a whole network as proxies.
func TestRecipesGiveFewRights(t *testing.T) {
	type rights struct {
		Image       string
		Environment any
		Privileged  bool
		CapDrop     []string `yaml:"cap_drop"`
		SecurityOpt []string `yaml:"security_opt"`
	}
	var compose struct{ Services map[string]rights }
	if err := yaml.Unmarshal([]byte(read(t, "../deploy/compose.yaml")), &compose); err != nil ||
		len(compose.Services) < 5 {
		t.Fatalf("%d services, %v", len(compose.Services), err)
	}
	for name, service := range compose.Services {
		if service.Image != "" && !strings.Contains(service.Image, "_IMAGE:?") {
			t.Errorf("%s has an image without a digest: %s", name, service.Image)
		}
		if !service.Privileged && (!slices.Equal(service.CapDrop, []string{"ALL"}) ||
			!slices.Contains(service.SecurityOpt, "no-new-privileges:true")) {
			t.Errorf("%s keeps capabilities", name)
		}
		if service.Privileged != (name == "worker") {
			t.Errorf("%s is privileged: %v", name, service.Privileged)
		}
		if strings.Contains(fmt.Sprint(service.Environment), "postgres://postgres") {
			t.Errorf("%s is PostgreSQL's superuser", name)
		}
	}
	container := read(t, "../deploy/Containerfile")
	if user := regexp.MustCompile(`(?m)^USER [1-9]`); !user.MatchString(container) ||
		regexp.MustCompile(`(?m)^FROM [^$]`).MatchString(container) {
		t.Error("the container file has no user of its own, or a floating base")
	}
	for _, line := range strings.Split(strings.TrimSpace(read(t, "../deploy/images.sh")), "\n") {
		if name, pinned := strings.CutPrefix(line, "pin "); pinned {
			if name, _, _ = strings.Cut(name, " "); !strings.Contains(container+read(t, "../deploy/compose.yaml"),
				"{"+name) {
				t.Errorf("no recipe uses %s", name)
			}
		}
	}
	for file, want := range map[string][]string{"site": {"runAsNonRoot: true", "drop: [ ALL ]",
		"allowPrivilegeEscalation: false", "readOnlyRootFilesystem: true"}, "worker": {"runAsUser: 0"}} {
		text := read(t, "../deploy/kubernetes/"+file+".yaml")
		for _, part := range append(want, "@sha256:") {
			if !strings.Contains(text, part) {
				t.Errorf("%s.yaml lacks %s", file, part)
			}
		}
		if strings.Contains(text, "--trusted-proxies") || strings.Contains(text, "/8") {
			t.Errorf("%s.yaml trusts a network as proxies", file)
		}
	}
}
