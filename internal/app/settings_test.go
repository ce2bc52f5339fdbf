package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes a file for a test and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFlagsGoOverVariablesOverTheSettingsFile(t *testing.T) {
	file := write(t, "warpboard.toml", `
addr = "127.0.0.1:6000"
log-level = "warn"
log_format = "json"
cpu-slots = 2
grace = "3s"
no-worker = true
admins = ["github:ada", "github:grace"]
nats-tls-ca = "ca.pem"
`)
	secret := write(t, "token", "s3cret\n")
	env := map[string]string{"WARPBOARD_CONFIG": file, "WARPBOARD_LOG_LEVEL": "error",
		"WARPBOARD_METRICS_TOKEN_FILE": secret}
	cfg, err := parse("serve", []string{"--addr", "127.0.0.1:5000"}, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		ok   bool
	}{
		{"flag over file", cfg.Addr == "127.0.0.1:5000"},
		{"variable over file", cfg.LogLevel == "error"},
		{"text, with an underscore in its name", cfg.LogFormat == "json"},
		{"number", cfg.Worker.CPUSlots == 2},
		{"duration", cfg.ShutdownGrace.Seconds() == 3},
		{"truth value", cfg.NoWorker},
		{"list", cfg.Admins.String() == "github:ada,github:grace"},
		{"secret from a file of its own, without the line's end", cfg.MetricsToken == "s3cret"},
	} {
		if !c.ok {
			t.Errorf("%s: %+v", c.what, cfg)
		}
	}
	if _, err := parse("migrate", []string{"--config", file}, noEnvironment); err != nil {
		t.Errorf("a file with settings of other commands: %v", err)
	}
}

func TestASettingsFileErrorNamesTheProblem(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"adddr = 'x'", "adddr is not a setting; warpboard serve --help lists them"},
		{"config = 'other.toml'", "config is not a setting"},
		{"addr = ", "settings file"},
		{"admins = [1]", "admins: expected a list of strings without commas, got 1"},
		{"addr = {host = 'x'}", "addr: expected a string, number, boolean, or list of strings"},
		{"cpu-slots = 'many'", `cpu-slots: "many" is not a whole number`},
		{"github-secret = 'hidden'\ngithub-key = 'k'\ngrace = 'hidden2'", `grace: "hidden2" is not a time like 30s`},
	} {
		file := write(t, "warpboard.toml", c.content)
		_, err := parse("serve", []string{"--config", file}, noEnvironment)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "'hidden'") {
			t.Errorf("%s: error is %v, want %q", c.content, err, c.want)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing.toml")
	if _, err := parse("serve", []string{"--config", missing}, noEnvironment); err == nil ||
		!strings.Contains(err.Error(), missing) {
		t.Errorf("a missing file: %v", err)
	}
	env := map[string]string{"WARPBOARD_METRICS_TOKEN": "a", "WARPBOARD_METRICS_TOKEN_FILE": missing,
		"WARPBOARD_WORKER_NAME_FILE": missing}
	_, err := parse("serve", nil, func(name string) string { return env[name] })
	for _, want := range []string{"WARPBOARD_METRICS_TOKEN and WARPBOARD_METRICS_TOKEN_FILE are both set",
		"WARPBOARD_WORKER_NAME_FILE: open " + missing} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

func TestCheckConfigShowsSourcesAndHidesSecrets(t *testing.T) {
	file := write(t, "warpboard.toml",
		"log-level = 'warn'\ngithub-key = 'k'\ngithub-secret = 'hidden'\ndatabase-url = 'postgres://me:hidden@db/x'\n")
	check := func(args ...string) (string, error) {
		var out bytes.Buffer
		env := Environment{Stdout: &out, Stderr: &out, Getenv: func(name string) string {
			return map[string]string{"WARPBOARD_METRICS_TOKEN": "hidden"}[name]
		}}
		err := Run(t.Context(), env, append([]string{"check-config"}, args...))
		return out.String(), err
	}
	printed, err := check("--config", file, "--addr", "127.0.0.1:5000")
	if err != nil || strings.Contains(printed, "hidden") || strings.Count(printed, "(secret)") != 3 {
		t.Fatalf("%v\n%s", err, printed)
	}
	for _, want := range []string{"--addr 127.0.0.1:5000 flag", "--log-level warn " + file, "--log-format text default",
		"--metrics-token (secret) WARPBOARD_METRICS_TOKEN", "serve can start"} {
		if !strings.Contains(strings.Join(strings.Fields(printed), " "), want) {
			t.Errorf("%q is missing in\n%s", want, printed)
		}
	}
	if printed, err := check("work", "--config", file); err == nil ||
		!strings.Contains(err.Error(), "--worker-secret is needed") {
		t.Errorf("a worker without a secret: %v\n%s", err, printed)
	}
}
