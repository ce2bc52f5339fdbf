package app

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// noEnvironment is a getenv function without variables.
func noEnvironment(string) string { return "" }

// parse returns the settings of a command line.
func parse(command string, args []string, getenv func(string) string) (*Config, error) {
	var got *Config
	cmd := settingsCommand(Environment{Getenv: getenv, Stdout: io.Discard}, command, "",
		func(_ context.Context, _ Environment, cfg *Config) error {
			got = cfg
			return nil
		})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{}, args...))
	return got, cmd.Execute()
}

func TestFlagsGoOverEnvironmentOverDefaults(t *testing.T) {
	env := map[string]string{
		"WARPBOARD_ADDR": "127.0.0.1:4000", "WARPBOARD_CPU_SLOTS": "3",
		"WARPBOARD_ADMINS":    " github:ada, github:grace ,",
		"WARPBOARD_LOG_LEVEL": "debug",
	}
	cfg, err := parse("serve", []string{"--addr", "127.0.0.1:5000", "--log-level=warn"},
		func(name string) string { return env[name] })
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
		{"default", cfg.Worker.SandboxMode == "on" && !cfg.NoWorker && cfg.LogFormat == "text"},
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
		{"serve", "--base-url kernels.example.org",
			"--base-url \"kernels.example.org\": want http://host or https://host"},
		{"serve", "--base-url https://lab.example.org//warpboard",
			"--base-url \"https://lab.example.org//warpboard\": want a path of letters"},
		{"serve", "--base-url https://lab.example.org/?warpboard",
			"--base-url \"https://lab.example.org/?warpboard\": the site's address ends with its path"},
		{"serve", "--contact javascript:alert(1)", "--contact \"javascript:alert(1)\": want an address like"},
		{"serve", "--contact Me<me@example.org>", "--contact \"Me<me@example.org>\": want an address like"},
		{"serve", "--log-level loud", "--log-level \"loud\": want debug, info, warn or error"},
		{"serve", "--log-format xml", "--log-format \"xml\": want text or json"},
		{"serve", "--database-url mysql://x", "--database-url: want postgres://"},
		{"serve", "--sandbox maybe", "--sandbox \"maybe\": want on or off"},
		{"serve", "--cpu-slots -1", "--cpu-slots -1: want 0 to 1024"},
		{"serve", "--ranked-processes 0", "--ranked-processes 0: want 1 to 25"},
		{"serve", "--cpu-slots many", "--cpu-slots: \"many\" is not a whole number (serve --help prints its flags)"},
		{"serve", "--adddr x", "unknown flag: --adddr (serve --help prints its flags)"},
		{"serve", "--waiting-runs -1", "--waiting-runs -1: want 0 or more"},
		{"serve", "--evaluations-at-once 0", "--evaluations-at-once 0: want 1 or more"},
		{"serve", "--submissions-per-hour -1", "--submissions-per-hour -1: want 0 or more"},
		{"serve", "--first-uid 999", "--first-uid 999: want 1000 or more"},
		{"serve", "--nats-tls-cert c.pem --nats-listen :4222", "--nats-tls-cert and --nats-tls-key belong together"},
		{"serve", "--nats-tls-cert c.pem --nats-tls-key k.pem", "--nats-tls-cert is for --nats-listen"},
		{"serve", "--include-libraries cutlass", "--include-libraries \"cutlass\": want name=directory"},
		{"serve", "--smtp-from a@example.org", "--smtp-host is missing"},
		{"serve", "--smtp-host mail.example.org", "--smtp-from \"\": want an address"},
		{"serve", "--smtp-host mail.example.org --smtp-from a@example.org --smtp-user me",
			"--smtp-user and --smtp-password belong together"},
		{"serve", "--smtp-host mail.example.org --smtp-from a@example.org --smtp-port 0",
			"--smtp-port 0: want 1 to 65535"},
		{"serve", "--open-eval-api some", "--open-eval-api \"some\": want all, loopback or none"},
		{"serve", "--metrics-from 10.0.0.0/8,example.org",
			"--metrics-from \"example.org\": want an address or a network"},
		{"serve", "--nats-url nats://a:4222 --nats-listen b:4222", "cannot be used together"},
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
		{"work", "--build-nice 0", "--build-nice 0: want 1 to 19"},
		{"work", "--database-url postgres://x", "unknown flag: --database-url"},
		{"migrate", "--log-level loud", "--log-level \"loud\""},
		{"token", "ada", "token takes no argument \"ada\""},
	} {
		_, err := parse(c.command, strings.Fields(c.args), noEnvironment)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("warpboard %s %s: error is %v, want %q", c.command, c.args, err, c.want)
		}
	}
}

func TestAllProblemsOfTheSettingsAreReportedAtOnce(t *testing.T) {
	env := func(name string) string { return map[string]string{"WARPBOARD_CPU_SLOTS": "many"}[name] }
	_, err := parse("serve", []string{"--addr", "3000", "--sandbox", "maybe"}, env)
	for _, want := range []string{"WARPBOARD_CPU_SLOTS: \"many\" is not a whole number", "--addr", "--sandbox"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one about %s", err, want)
		}
	}
}

func TestAMisspeltVariableIsNoticed(t *testing.T) {
	got := unknownSettingVariables([]string{"WARPBOARD_ADDRR=x", "WARPBOARD_ADDR=x", "WARPBOARD_WORKER_SECRET=x",
		"WARPBOARD_TOKEN=x", "WARPBOARD_METRICS_TOKEN_FILE=x", "WARPBOARD_TOKEN_FILES=x", "WARPBOARD_CONFIG_FILE=x",
		"HOME=/"})
	if diff := cmp.Diff([]string{"WARPBOARD_ADDRR", "WARPBOARD_CONFIG_FILE", "WARPBOARD_TOKEN_FILES"},
		got); diff != "" {
		t.Errorf("unknown variables (-want +got):\n%s", diff)
	}
}

func TestHelpListsEveryFlagWithItsVariable(t *testing.T) {
	for _, command := range []string{"serve", "work", "migrate", "token"} {
		for _, args := range [][]string{{command, "--help"}, {"help", command}} {
			var out bytes.Buffer
			env := Environment{Getenv: noEnvironment, Stdout: &out, Stderr: &out}
			if err := Run(t.Context(), env, args); err != nil {
				t.Fatalf("warpboard %v: %v", args, err)
			}
			cmd, _, err := rootCommand(env).Find([]string{command})
			if err != nil {
				t.Fatal(err)
			}
			visitSettingFlags(cmd.Flags(), func(f *pflag.Flag) {
				if line := "--" + f.Name + "   " + envName(f.Name) + "\n"; !strings.Contains(out.String(), line) ||
					f.Usage == "" {
					t.Errorf("warpboard %v lacks %q or what it is for", args, line)
				}
			})
			if strings.Contains(out.String(), "WARPBOARD_HELP") {
				t.Errorf("warpboard %v has --help among the settings", args)
			}
		}
	}
}

// TestFlagsMayHaveOneHyphen checks that local commands accept flags with one hyphen, like package flag, and that
// commands for a site do not.
func TestFlagsMayHaveOneHyphen(t *testing.T) {
	for line, want := range map[string]string{
		"check-config -addr 127.0.0.1:5000 -no-worker":                     "--addr 127.0.0.1:5000 flag",
		"check-config work -nats-url nats://a:1 -join=j -gauge-every -10m": "--gauge-every -10m",
		// values may begin with a hyphen: secrets do
		"check-config work -site https://a --join j --worker-name -name": "--worker-name -name flag",
		"check-config -no-worker -contact -mail@a.example":               "--contact -mail@a.example flag",
	} {
		_, out, wrong := commanded(t, nil, strings.Fields(line)...)
		if got := strings.Join(strings.Fields(out), " "); !strings.Contains(got, want) {
			t.Errorf("%s: %s%s, want %s", line, got, wrong, want)
		}
	}
	if code, _, wrong := commanded(t, nil, "runs", "-json"); code != 2 {
		t.Errorf("runs -json: exit %d, %s", code, wrong)
	}
}

func TestEveryCommandIsListed(t *testing.T) {
	var out bytes.Buffer
	env := Environment{Getenv: noEnvironment, Stdout: &out, Stderr: &out}
	if err := Run(t.Context(), env, []string{"--help"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range commands(env) {
		if !strings.Contains(out.String(), "  "+c.Name()+" ") {
			t.Errorf("help lacks the command %s", c.Name())
		}
	}
	if err := Run(t.Context(), env, []string{"fly"}); err == nil ||
		!strings.Contains(err.Error(), "no command warpboard fly") {
		t.Errorf("an unknown command: %v", err)
	}
}
