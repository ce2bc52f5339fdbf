package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Config is every setting of the program. A flag --some-name falls back to the environment
// variable WARPBOARD_SOME_NAME, then to the default that --help prints.
type Config struct {
	Addr        string
	Data        string
	BaseURL     string
	DatabaseURL string
	NATSURL     string
	NATSListen  string
	Tasks       string
	TaskDevices list
	Admins      list
	OAuth       OAuthConfig

	Worker   WorkerSettings
	NoWorker bool

	PerHour int
	Waiting int

	OpenEvalAPI string
	Grace       time.Duration
	LogLevel    string
	LogFormat   string
}

// OAuthConfig holds the sign-in providers; each is on when its key is set.
type OAuthConfig struct {
	GitHubKey, GitHubSecret         string
	GoogleKey, GoogleSecret         string
	DiscordKey, DiscordSecret       string
	GitLabKey, GitLabSecret         string
	GitLabURL                       string
	OIDCIssuer, OIDCKey, OIDCSecret string
	OIDCName                        string
}

// WorkerSettings says what this process evaluates, alone or inside serve.
type WorkerSettings struct {
	Name        string
	Secret      string
	CPUSlots    int
	Sandbox     string
	Include     list
	Profile     bool
	WarmPythons int
}

// list is a flag that takes several values, separated by commas.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

// Set replaces the list with the comma-separated values of s.
func (l *list) Set(s string) error {
	*l = nil
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

// newFlags declares all settings of one command on a fresh flag set.
func newFlags(command string, cfg *Config, out io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.SetOutput(out)
	fs.StringVar(&cfg.Data, "data", "data", "directory that holds everything: database, queue, caches, artifacts")
	fs.StringVar(&cfg.DatabaseURL, "database-url", "", "postgres://… to use PostgreSQL instead of the SQLite file in --data")
	fs.StringVar(&cfg.LogLevel, "log-level", "info", "debug, info, warn or error")
	fs.StringVar(&cfg.LogFormat, "log-format", "text", "text or json")
	if command == "serve" || command == "work" {
		workerFlags(fs, cfg)
		fs.StringVar(&cfg.NATSURL, "nats-url", "", "nats://… of a NATS server with JetStream; serve: instead of the embedded one; work: the site's --nats-listen address")
		fs.DurationVar(&cfg.Grace, "grace", 20*time.Second, "how long running evaluations may go on after a stop signal")
	}
	if command == "serve" {
		serveFlags(fs, cfg)
	}
	return fs
}

func workerFlags(fs *flag.FlagSet, cfg *Config) {
	host, _ := os.Hostname()
	w := &cfg.Worker
	fs.StringVar(&w.Name, "worker-name", host, "name of this machine's worker; work: the name its credential was made for")
	fs.StringVar(&w.Secret, "worker-secret", "", "work: the secret shown when the credential was made on the devices page")
	fs.IntVar(&w.CPUSlots, "cpu-slots", max(1, runtime.NumCPU()-1), "evaluations on the CPU device at once; 0 for none")
	fs.StringVar(&w.Sandbox, "sandbox", "on", "on, or off to run strangers' programs with this user's rights (every page says so)")
	fs.Var(&w.Include, "include-libraries", "header libraries that tasks may name in include_dirs, as name=directory,…")
	fs.BoolVar(&w.Profile, "profile", true, "profile ranked runs with Nsight Compute when the slot is free")
	fs.IntVar(&w.WarmPythons, "warm-python", min(2, max(1, runtime.NumCPU()/4)), "Pythons kept ready at each slot with torch imported; 0 for none")
}

func serveFlags(fs *flag.FlagSet, cfg *Config) {
	fs.StringVar(&cfg.Addr, "addr", "127.0.0.1:3000", "address to serve on")
	fs.StringVar(&cfg.BaseURL, "base-url", "", "address that people type, e.g. https://kernels.example.org; default http://ADDR")
	fs.StringVar(&cfg.NATSListen, "nats-listen", "", "host:port where remote workers connect to the embedded queue; none by default")
	fs.StringVar(&cfg.Tasks, "tasks", "", "directory of task folders or problem sets to install at start")
	fs.Var(&cfg.TaskDevices, "task-devices", "devices for tasks of --tasks that name none, as H200,A100,…")
	fs.Var(&cfg.Admins, "admins", "who is admin, as provider:login or provider:e-mail,… (developer:NAME for developer sign-in)")
	fs.BoolVar(&cfg.NoWorker, "no-worker", false, "evaluate nothing in this process; remote workers do")
	fs.IntVar(&cfg.PerHour, "submissions-per-hour", 240, "submissions that one person may make per hour; 0 for no limit")
	fs.IntVar(&cfg.Waiting, "waiting-runs", 40, "runs that one person may have queued or running; 0 for no limit")
	fs.StringVar(&cfg.OpenEvalAPI, "open-eval-api", "loopback", "who may use the unversioned evaluation API without a token: all, loopback (when serving on a loopback address) or none")
	o := &cfg.OAuth
	fs.StringVar(&o.GitHubKey, "github-key", "", "GitHub OAuth client id")
	fs.StringVar(&o.GitHubSecret, "github-secret", "", "GitHub OAuth client secret")
	fs.StringVar(&o.GoogleKey, "google-key", "", "Google OAuth client id")
	fs.StringVar(&o.GoogleSecret, "google-secret", "", "Google OAuth client secret")
	fs.StringVar(&o.DiscordKey, "discord-key", "", "Discord OAuth client id")
	fs.StringVar(&o.DiscordSecret, "discord-secret", "", "Discord OAuth client secret")
	fs.StringVar(&o.GitLabKey, "gitlab-key", "", "GitLab OAuth client id")
	fs.StringVar(&o.GitLabSecret, "gitlab-secret", "", "GitLab OAuth client secret")
	fs.StringVar(&o.GitLabURL, "gitlab-url", "https://gitlab.com", "GitLab server")
	fs.StringVar(&o.OIDCIssuer, "oidc-issuer", "", "issuer URL of an OpenID Connect provider")
	fs.StringVar(&o.OIDCKey, "oidc-key", "", "OpenID Connect client id")
	fs.StringVar(&o.OIDCSecret, "oidc-secret", "", "OpenID Connect client secret")
	fs.StringVar(&o.OIDCName, "oidc-name", "OpenID Connect", "what its sign-in button says")
}

// envName is the environment variable behind a flag.
func envName(flagName string) string {
	return "WARPBOARD_" + strings.ToUpper(strings.ReplaceAll(flagName, "-", "_"))
}

// parse reads args over the environment over the defaults, and checks the whole.
func parse(command string, args []string, getenv func(string) string, out io.Writer) (*Config, error) {
	cfg := &Config{}
	fs := newFlags(command, cfg, out)
	fs.Usage = func() { usage(fs, command, out) }
	var wrong []error
	fs.VisitAll(func(f *flag.Flag) {
		if v := getenv(envName(f.Name)); v != "" {
			if err := fs.Set(f.Name, v); err != nil {
				wrong = append(wrong, fmt.Errorf("%s=%q: %w", envName(f.Name), v, err))
			}
		}
	})
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		wrong = append(wrong, fmt.Errorf("%s takes no argument %q; see warpboard %s --help", command, fs.Arg(0), command))
	}
	cfg.fillIn()
	wrong = append(wrong, cfg.validate(command)...)
	return cfg, errors.Join(wrong...)
}

func usage(fs *flag.FlagSet, command string, out io.Writer) {
	fmt.Fprintf(out, "usage: warpboard %s [flags]\n\nEach flag can also be set by the environment variable beside it.\n\n", command)
	fs.VisitAll(func(f *flag.Flag) {
		def := f.DefValue
		if def == "" {
			def = "none"
		}
		fmt.Fprintf(out, "  --%s   %s\n      %s (default: %s)\n", f.Name, envName(f.Name), f.Usage, def)
	})
}

func (c *Config) fillIn() {
	if c.BaseURL == "" {
		c.BaseURL = "http://" + c.Addr
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if abs, err := filepath.Abs(c.Data); err == nil {
		c.Data = abs
	}
}

// validate returns a sentence for everything that cannot work.
func (c *Config) validate(command string) []error {
	var wrong []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	var level slog.Level
	check(level.UnmarshalText([]byte(c.LogLevel)) == nil, "--log-level %q: want debug, info, warn or error", c.LogLevel)
	check(c.LogFormat == "text" || c.LogFormat == "json", "--log-format %q: want text or json", c.LogFormat)
	check(c.DatabaseURL == "" || strings.HasPrefix(c.DatabaseURL, "postgres://") || strings.HasPrefix(c.DatabaseURL, "postgresql://"),
		"--database-url: want postgres://…; leave it empty for SQLite in --data")
	if command == "serve" || command == "work" {
		check(c.Worker.Sandbox == "on" || c.Worker.Sandbox == "off", "--sandbox %q: want on or off", c.Worker.Sandbox)
		check(c.Worker.CPUSlots >= 0, "--cpu-slots %d: want 0 or more", c.Worker.CPUSlots)
		for _, lib := range c.Worker.Include {
			check(strings.Contains(lib, "="), "--include-libraries %q: want name=directory", lib)
		}
	}
	if command == "work" {
		check(c.NATSURL != "", "--nats-url is needed: the address of the site's --nats-listen, as nats://host:port")
		check(c.Worker.Secret != "", "--worker-secret is needed: make a credential on the site's devices page")
	}
	if command == "serve" {
		wrong = append(wrong, c.validateServe()...)
	}
	return wrong
}

func (c *Config) validateServe() []error {
	var wrong []error
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		wrong = append(wrong, fmt.Errorf("--addr %q: want host:port: %w", c.Addr, err))
	}
	if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		wrong = append(wrong, fmt.Errorf("--base-url %q: want http://host or https://host", c.BaseURL))
	}
	if c.NATSURL != "" && c.NATSListen != "" {
		wrong = append(wrong, errors.New("--nats-url and --nats-listen exclude each other: the second opens the embedded queue"))
	}
	switch c.OpenEvalAPI {
	case "all", "loopback", "none":
	default:
		wrong = append(wrong, fmt.Errorf("--open-eval-api %q: want all, loopback or none", c.OpenEvalAPI))
	}
	o := c.OAuth
	for _, p := range [][3]string{{"github", o.GitHubKey, o.GitHubSecret}, {"google", o.GoogleKey, o.GoogleSecret},
		{"discord", o.DiscordKey, o.DiscordSecret}, {"gitlab", o.GitLabKey, o.GitLabSecret}, {"oidc", o.OIDCKey, o.OIDCSecret}} {
		if (p[1] == "") != (p[2] == "") {
			wrong = append(wrong, fmt.Errorf("--%s-key and --%s-secret belong together: one is missing", p[0], p[0]))
		}
	}
	if (o.OIDCIssuer == "") != (o.OIDCKey == "") {
		wrong = append(wrong, errors.New("--oidc-issuer and --oidc-key belong together: one is missing"))
	}
	return wrong
}

// logger builds the program's logger.
func (c *Config) logger(out io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // validate has checked it
	opts := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, opts))
	}
	return slog.New(slog.NewTextHandler(out, opts))
}

// libraries maps the names that tasks may use in include_dirs to directories.
func (w WorkerSettings) libraries() map[string]string {
	libs := map[string]string{}
	for _, l := range w.Include {
		name, dir, _ := strings.Cut(l, "=")
		libs[name] = dir
	}
	return libs
}
