package app

import (
	"bytes"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"warpboard/evaluator/sandbox/sandboxtest"
)

// recipes reads the files of deploy/.
func recipes(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir("../../deploy", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil || len(texts) == 0 {
		t.Fatal(err)
	}
	return texts
}

// TestRecipesAreShortAndUseSettingsThatExist checks every command line and every variable in deploy/ against the
// program.
func TestRecipesAreShortAndUseSettingsThatExist(t *testing.T) {
	lines := 0
	for path, text := range recipes(t) {
		if n := strings.Count(text, "\n"); n > 60 {
			t.Errorf("%s has %d lines, at most 60 are read", path, n)
		}
		var named []string
		for _, name := range regexp.MustCompile(`WARPBOARD_[A-Z0-9_]+`).FindAllString(text, -1) {
			// variables of the NATS server and of PostgreSQL, not of the program
			if name != "WARPBOARD_SITE_PASSWORD" && name != "WARPBOARD_ISSUER" &&
				name != "WARPBOARD_DATABASE_PASSWORD" {
				named = append(named, name+"=")
			}
		}
		if unknown := unknownSettingVariables(named); len(unknown) > 0 {
			t.Errorf("%s sets %v, which no command reads", path, unknown)
		}
		for _, line := range commandLines(t, path, text) {
			lines++
			cmd, rest, err := rootCommand(Environment{Getenv: noEnvironment}).Find(line)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil || cmd.Flags().NArg() > 0 {
				t.Errorf("%s: warpboard %v: %v %v", path, line, err, cmd.Flags().Args())
			}
		}
	}
	if lines < 7 {
		t.Errorf("only %d command lines were found", lines)
	}
}

// commandLines returns the words after the program's name in shells, units, and lists.
func commandLines(t *testing.T, path, text string) (lines [][]string) {
	for _, m := range regexp.MustCompile(
		`(?m)^(?:ExecStart=|srun |run: ).*?warpboard ((?:serve|work)\b.*)$`).FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Fields(strings.ReplaceAll(m[1], `"`, "")))
	}
	if filepath.Ext(path) != ".yaml" {
		return lines
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document any
		if err := decoder.Decode(&document); err != nil {
			if err.Error() != "EOF" {
				t.Errorf("%s: %v", path, err)
			}
			return lines
		}
		walkLists(document, func(list []any) {
			if len(list) > 0 && (list[0] == "serve" || list[0] == "work") {
				var line []string
				for _, word := range list {
					line = append(line, word.(string))
				}
				lines = append(lines, line)
			}
		})
	}
}

func walkLists(at any, see func([]any)) {
	switch node := at.(type) {
	case map[string]any:
		for _, below := range node {
			walkLists(below, see)
		}
	case []any:
		see(node)
		for _, below := range node {
			walkLists(below, see)
		}
	}
}

// TestUnitsAreFitForSystemd checks the units with systemd-analyze, with /bin/true in place of warpboard.
func TestUnitsAreFitForSystemd(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		sandboxtest.Without(t, "systemd-analyze", err)
	}
	for path, text := range recipes(t) {
		if filepath.Ext(path) != ".service" {
			continue
		}
		if own := strings.Contains(text, "DynamicUser=yes"); own &&
			(!strings.Contains(text, "\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n") ||
				!strings.Contains(text, "\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\n")) {
			t.Errorf("%s: --addr :443 cannot be served, or more is allowed than that", path)
		}
		service := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := os.WriteFile(service, []byte(strings.ReplaceAll(text, "/usr/local/bin/warpboard", "/bin/true")),
			0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(analyze, "verify", service).CombinedOutput(); err != nil ||
			len(bytes.TrimSpace(out)) > 0 {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
}

// TestASpotMachinesNoticeIsWrittenForTheWorker runs the script against the metadata formats of several clouds.
func TestASpotMachinesNoticeIsWrittenForTheWorker(t *testing.T) {
	for cloud, test := range map[string]struct {
		answers map[string]string
		header  string
		want    string
	}{
		"AWS": {map[string]string{"/latest/api/token": "tok",
			"/latest/meta-data/spot/instance-action": `{"action": "terminate", "time": "2026-01-31T08:22:00Z"}`},
			"X-Aws-Ec2-Metadata-Token: tok", "2026-01-31T08:22:00Z\n"},
		"Google": {map[string]string{"/computeMetadata/v1/instance/preempted": "TRUE"}, "Metadata-Flavor: Google",
			"25s\n"},
		"Azure": {map[string]string{"/metadata/scheduledevents": `{"Events":[{"EventType":"Preempt"}]}`},
			"Metadata: true", "25s\n"},
	} {
		asked := 0
		key, value, _ := strings.Cut(test.header, ": ")
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer, ok := test.answers[r.URL.Path]
			if r.Method == http.MethodGet {
				if asked++; r.Header.Get(key) != value || asked < 5 { // the first four requests get no notice
					ok = false
				}
			}
			if !ok {
				http.NotFound(w, r)
				return
			}
			_, _ = io.WriteString(w, answer)
		}))
		file := filepath.Join(t.TempDir(), "notice")
		if err := os.WriteFile(file, []byte("30s"), 0o600); err != nil { // an old notice, which must be replaced
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "sh", "../../deploy/spot-notice.sh", file)
		cmd.Env = append(os.Environ(), "METADATA="+server.URL, "EVERY=0.01", "no_proxy=*")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", cloud, err, out)
		}
		server.Close()
		if text, err := os.ReadFile(file); err != nil || string(text) != test.want {
			t.Errorf("%s: it wrote %q, %v; want %q", cloud, text, err, test.want)
		} else if n := (&shutdownNotice{file: file, log: slog.New(slog.DiscardHandler)}); cloud != "AWS" {
			if _, ok := n.readFile(time.Now()); !ok {
				t.Errorf("%s: the worker does not understand %q", cloud, text)
			}
		}
	}
}

// skyKeys are the allowed keys of a SkyPilot task, below each key, from SkyPilot's documentation
// (docs.skypilot.co/en/latest/reference/yaml-spec.html). A key without a list may contain anything.
var skyKeys = map[string][]string{
	"": {"name", "workdir", "num_nodes", "resources", "envs", "secrets", "volumes", "file_mounts", "config",
		"setup", "run", "service"},
	"resources": {"infra", "cloud", "region", "zone", "accelerators", "accelerator_args", "cpus", "memory",
		"instance_type", "use_spot", "job_recovery", "disk_size", "disk_tier", "network_tier", "ports", "image_id",
		"labels", "any_of", "ordered", "autostop"},
}

// TestSkyPilotKnowsEveryKey checks that the recipe has only keys of SkyPilot, and all required ones.
func TestSkyPilotKnowsEveryKey(t *testing.T) {
	var task map[string]any
	if err := yaml.Unmarshal([]byte(recipes(t)["../../deploy/skypilot.yaml"]), &task); err != nil {
		t.Fatal(err)
	}
	for above, known := range skyKeys {
		at := task
		if above != "" {
			at, _ = task[above].(map[string]any)
		}
		if len(at) == 0 {
			t.Errorf("there is nothing in %q", above)
		}
		for key := range at {
			if !slices.Contains(known, key) {
				t.Errorf("SkyPilot knows no %s %s", above, key)
			}
		}
	}
	for _, key := range []string{"setup", "run"} {
		if _, ok := task[key].(string); !ok {
			t.Errorf("%s is not a text", key)
		}
	}
	envs, _ := task["envs"].(map[string]any)
	for key, value := range envs {
		if _, ok := value.(string); !ok {
			t.Errorf("the variable %s is %v, which SkyPilot does not pass on", key, value)
		}
	}
}
