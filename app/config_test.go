package app

import (
	"bytes"
	"flag"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		{"serve", "--base-url https://lab.example.org//warpboard", "--base-url \"https://lab.example.org//warpboard\": want a path of letters"},
		{"serve", "--base-url https://lab.example.org/?warpboard", "--base-url \"https://lab.example.org/?warpboard\": the site's address ends with its path"},
		{"serve", "--contact javascript:alert(1)", "--contact \"javascript:alert(1)\": want an address like"},
		{"serve", "--contact Me<me@example.org>", "--contact \"Me<me@example.org>\": want an address like"},
		{"serve", "--log-level loud", "--log-level \"loud\": want debug, info, warn or error"},
		{"serve", "--log-format xml", "--log-format \"xml\": want text or json"},
		{"serve", "--database-url mysql://x", "--database-url: want postgres://"},
		{"serve", "--sandbox maybe", "--sandbox \"maybe\": want on or off"},
		{"serve", "--cpu-slots -1", "--cpu-slots -1: want 0 to 1024"},
		{"serve", "--ranked-processes 0", "--ranked-processes 0: want 1 to 25"},
		{"serve", "--cpu-slots many", "invalid value \"many\" for flag -cpu-slots: parse error; see warpboard serve --help"},
		{"serve", "--adddr x", "flag provided but not defined: -adddr; see warpboard serve --help"},
		{"serve", "--waiting-runs -1", "--waiting-runs -1: want 0 or more"},
		{"serve", "--submissions-per-hour -1", "--submissions-per-hour -1: want 0 or more"},
		{"serve", "--first-uid 999", "--first-uid 999: want 1000 or more"},
		{"serve", "--nats-tls-cert c.pem --nats-listen :4222", "--nats-tls-cert and --nats-tls-key belong together"},
		{"serve", "--nats-tls-cert c.pem --nats-tls-key k.pem", "--nats-tls-cert is for --nats-listen"},
		{"serve", "--include-libraries cutlass", "--include-libraries \"cutlass\": want name=directory"},
		{"serve", "--open-eval-api some", "--open-eval-api \"some\": want all, loopback or none"},
		{"serve", "--metrics-from 10.0.0.0/8,example.org", "--metrics-from \"example.org\": want an address or a network"},
		{"serve", "--nats-url nats://a:4222 --nats-listen b:4222", "exclude each other"},
		{"serve", "--github-key k", "--github-key and --github-secret belong together"},
		{"serve", "--google-secret s", "--google-key and --google-secret belong together"},
		{"serve", "--discord-key k", "--discord-key and --discord-secret belong together"},
		{"serve", "--gitlab-key k", "--gitlab-key and --gitlab-secret belong together"},
		{"serve", "--oidc-key k", "--oidc-key and --oidc-secret belong together"},
		{"serve", "--oidc-issuer https://id.example.org", "--oidc-issuer and --oidc-key belong together"},
		{"serve", "now", "serve takes no argument \"now\""},
		{"work", "--worker-secret s", "--site is needed"},
		{"work", "--nats-url nats://a:4222", "--worker-secret is needed"},
		{"work", "--first-uid 0", "--first-uid 0: want 1000 or more"},
		{"work", "--database-url postgres://x", "not defined: -database-url"},
		{"migrate", "--log-level loud", "--log-level \"loud\""},
		{"token", "ada", "token takes no argument \"ada\""},
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

func TestAMisspeltVariableIsNoticed(t *testing.T) {
	got := unknownVariables([]string{"WARPBOARD_ADDRR=x", "WARPBOARD_ADDR=x", "WARPBOARD_WORKER_SECRET=x", "WARPBOARD_TOKEN=x", "WARPBOARD_METRICS_TOKEN_FILE=x", "WARPBOARD_TOKEN_FILES=x", "WARPBOARD_CONFIG_FILE=x", "HOME=/"})
	if diff := cmp.Diff([]string{"WARPBOARD_ADDRR", "WARPBOARD_CONFIG_FILE", "WARPBOARD_TOKEN_FILES"}, got); diff != "" {
		t.Errorf("unknown variables (-want +got):\n%s", diff)
	}
}

func TestHelpListsEveryFlagWithItsVariable(t *testing.T) {
	for _, command := range []string{"serve", "work", "migrate"} {
		var out bytes.Buffer
		if _, err := parse(command, []string{"--help"}, noEnvironment, &out); err != flag.ErrHelp {
			t.Fatalf("warpboard %s --help: %v", command, err)
		}
		newFlags(command, &Config{}).VisitAll(func(f *flag.Flag) {
			if line := "--" + f.Name + "   " + envName(f.Name) + "\n"; !strings.Contains(out.String(), line) || f.Usage == "" {
				t.Errorf("warpboard %s --help lacks %q or what it is for", command, line)
			}
		})
	}
}

func TestEveryCommandIsListed(t *testing.T) {
	var out bytes.Buffer
	env := Environment{Getenv: noEnvironment, Stdout: &out, Stderr: &out}
	if err := Run(t.Context(), env, []string{"--help"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range commands() {
		if !strings.Contains(out.String(), "  "+c.name+" ") {
			t.Errorf("help lacks the command %s", c.name)
		}
	}
	if err := Run(t.Context(), env, []string{"fly"}); err == nil || !strings.Contains(err.Error(), "no command warpboard fly") {
		t.Errorf("an unknown command: %v", err)
	}
}
