package main

import (
	"bytes"
	"flag"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// noEnvironment is an environment without any variable.
func noEnvironment(string) string { return "" }

func TestFlagsGoOverEnvironmentOverDefaults(t *testing.T) {
	env := map[string]string{
		"WARPBOARD_ADDR": "127.0.0.1:4000", "WARPBOARD_CPU_SLOTS": "3", "WARPBOARD_ADMINS": " github:ada, github:grace ,",
		"WARPBOARD_LOG_LEVEL": "debug",
	}
	cfg, err := parse("serve", []string{"--addr", "127.0.0.1:5000", "-log-level=warn"}, func(name string) string { return env[name] }, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		ok   bool
	}{
		{"flag over environment", cfg.Addr == "127.0.0.1:5000" && cfg.LogLevel == "warn"},
		{"environment over default", cfg.Worker.CPUSlots == 3},
		{"list from the environment", cfg.Admins.String() == "github:ada,github:grace"},
		{"default", cfg.Worker.Sandbox == "on" && !cfg.NoWorker && cfg.LogFormat == "text"},
		{"address that people type", cfg.BaseURL == "http://127.0.0.1:5000"},
		{"one directory, named in full", filepath.IsAbs(cfg.Data) && filepath.Base(cfg.Data) == "data"},
	} {
		if !c.ok {
			t.Errorf("%s: %+v", c.what, cfg)
		}
	}
}

func TestSettingThatCannotWorkIsRefusedWithASentence(t *testing.T) {
	for _, c := range []struct{ command, args, want string }{
		{"serve", "--addr 3000", "--addr \"3000\": want host:port"},
		{"serve", "--base-url kernels.example.org", "--base-url \"kernels.example.org\": want http://host or https://host"},
		{"serve", "--log-level loud", "--log-level \"loud\": want debug, info, warn or error"},
		{"serve", "--log-format xml", "--log-format \"xml\": want text or json"},
		{"serve", "--database-url mysql://x", "--database-url: want postgres://"},
		{"serve", "--sandbox maybe", "--sandbox \"maybe\": want on or off"},
		{"serve", "--cpu-slots -1", "--cpu-slots -1: want 0 or more"},
		{"serve", "--include-libraries cutlass", "--include-libraries \"cutlass\": want name=directory"},
		{"serve", "--open-eval-api some", "--open-eval-api \"some\": want all, loopback or none"},
		{"serve", "--nats-url nats://a:4222 --nats-listen b:4222", "exclude each other"},
		{"serve", "--github-key k", "--github-key and --github-secret belong together"},
		{"serve", "--google-secret s", "--google-key and --google-secret belong together"},
		{"serve", "--discord-key k", "--discord-key and --discord-secret belong together"},
		{"serve", "--gitlab-key k", "--gitlab-key and --gitlab-secret belong together"},
		{"serve", "--oidc-key k", "--oidc-key and --oidc-secret belong together"},
		{"serve", "--oidc-issuer https://id.example.org", "--oidc-issuer and --oidc-key belong together"},
		{"serve", "now", "serve takes no argument \"now\""},
		{"work", "--worker-secret s", "--nats-url is needed"},
		{"work", "--nats-url nats://a:4222", "--worker-secret is needed"},
		{"migrate", "--log-level loud", "--log-level \"loud\""},
	} {
		_, err := parse(c.command, strings.Fields(c.args), noEnvironment, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("warpboard %s %s: error is %v, want %q", c.command, c.args, err, c.want)
		}
	}
}

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	env := func(name string) string { return map[string]string{"WARPBOARD_CPU_SLOTS": "many"}[name] }
	_, err := parse("serve", []string{"--addr", "3000", "--sandbox", "maybe"}, env, io.Discard)
	for _, want := range []string{"WARPBOARD_CPU_SLOTS=\"many\"", "--addr", "--sandbox"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one about %s", err, want)
		}
	}
}

func TestHelpListsEveryFlagWithItsVariable(t *testing.T) {
	for _, command := range []string{"serve", "work", "migrate"} {
		var out bytes.Buffer
		if _, err := parse(command, []string{"--help"}, noEnvironment, &out); err != flag.ErrHelp {
			t.Fatalf("warpboard %s --help: %v", command, err)
		}
		newFlags(command, &Config{}, io.Discard).VisitAll(func(f *flag.Flag) {
			if line := "--" + f.Name + "   " + envName(f.Name) + "\n"; !strings.Contains(out.String(), line) || f.Usage == "" {
				t.Errorf("warpboard %s --help lacks %q or what it is for", command, line)
			}
		})
	}
}

func TestEveryCommandIsListed(t *testing.T) {
	var out bytes.Buffer
	env := environment{getenv: noEnvironment, stdout: &out, stderr: &out}
	if err := run(t.Context(), env, []string{"--help"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range commands() {
		if !strings.Contains(out.String(), "  "+c.name+" ") {
			t.Errorf("help lacks the command %s", c.name)
		}
	}
	if err := run(t.Context(), env, []string{"fly"}); err == nil || !strings.Contains(err.Error(), `"fly"`) {
		t.Errorf("an unknown command: %v", err)
	}
}
