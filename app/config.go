package app

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
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
	NATS        NATSSettings
	Tasks       string
	TaskDevices list
	Admins      list
	Proxies     list
	OAuth       OAuthConfig

	Worker   WorkerSettings
	NoWorker bool

	MinFree int // MiB
	PerHour int
	Waiting int

	OpenEvalAPI  string
	MetricsFrom  list
	MetricsToken string
	Grace        time.Duration
	LogLevel     string
	LogFormat    string
}

// NATSSettings says where the queue is, and how the way to it is kept secret.
type NATSSettings struct {
	URL, Listen            string
	TLSCert, TLSKey, TLSCA string
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
	FirstUID    int
	Sandbox     string
	ObjectCache string
	Include     list
	Profile     bool
	WarmPythons int
	Ahead       bool
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

// parse reads args over the environment over the defaults, and checks the whole. More declares flags
// that only this command has.
func parse(command string, args []string, getenv func(string) string, out io.Writer, more ...func(*flag.FlagSet)) (*Config, error) {
	cfg := &Config{}
	fs := newFlags(command, cfg)
	for _, declare := range more {
		declare(fs)
	}
	var wrong []error
	fs.VisitAll(func(f *flag.Flag) {
		if v := getenv(envName(f.Name)); v != "" {
			if err := fs.Set(f.Name, v); err != nil {
				wrong = append(wrong, fmt.Errorf("%s=%q: %w", envName(f.Name), v, err))
			}
		}
	})
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		usage(fs, command, out)
		return nil, err
	case err != nil:
		wrong = append(wrong, fmt.Errorf("%w; see warpboard %s --help", err, command))
	case fs.NArg() > 0:
		wrong = append(wrong, fmt.Errorf("%s takes no argument %q; see warpboard %s --help", command, fs.Arg(0), command))
	}
	cfg.fillIn()
	wrong = append(wrong, cfg.validate(command)...)
	return cfg, errors.Join(wrong...)
}

func usage(fs *flag.FlagSet, command string, out io.Writer) {
	fmt.Fprintf(out, "usage: warpboard %s [flags]\n\nEach flag can also be set by the environment variable beside it.\n\n", command)
	fs.VisitAll(func(f *flag.Flag) {
		about := f.Usage
		if f.DefValue != "" {
			about += fmt.Sprintf(" (default: %s)", f.DefValue)
		}
		fmt.Fprintf(out, "  --%s   %s\n      %s\n", f.Name, envName(f.Name), about)
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
