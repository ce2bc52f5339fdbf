package app

import (
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"warpboard/evaluator"
)

// Config is every setting of the program. A flag --some-name falls back to the environment variable
// WARPBOARD_SOME_NAME (or the content of the file that WARPBOARD_SOME_NAME_FILE names), then to some-name in the
// settings file, then to the default that --help prints.
type Config struct {
	File        string // of settings
	Addr        string
	Data        string
	BaseURL     string
	Contact     string
	DatabaseURL string
	Artifacts   string
	Site        string // a worker's, instead of NATS.URL
	NATS        NATSSettings
	Tasks       string
	TaskDevices list
	Admins      list
	Proxies     list
	OAuth       OAuthConfig
	TLS         TLSSettings

	Worker   WorkerSettings
	NoWorker bool

	MinFree int // MiB
	PerHour int
	// Baselines has the site run the baselines that come with tasks.
	Baselines bool
	// Confirm measures the first run of a board again, in turns with the next person's.
	Confirm bool
	// SigningKey signs what the site states of results; empty: the one in Data.
	SigningKey string
	Waiting    int
	// AtOnce is how many evaluations one caller may have waiting or running; a batch waits beyond it.
	AtOnce int

	OpenEvalAPI  string
	MetricsFrom  list
	MetricsToken string
	WebhookAllow list
	SMTP         SMTPSettings
	Grace        time.Duration
	LogLevel     string
	LogFormat    string
}

// SMTPSettings is the server that sends e-mail; without a host the site sends none.
type SMTPSettings struct {
	Host, User, Password, From string
	Port                       int
}

// NATSSettings has the address of the queue, and its TLS and credentials.
type NATSSettings struct {
	URL, Listen            string
	TLSCert, TLSKey, TLSCA string
	AccountSeed, Account   string
}

// WorkerSettings says what this process evaluates, alone or inside serve.
type WorkerSettings struct {
	Name        string
	Secret      string
	Join        string
	Leave       evaluator.Leaving
	NoticeFile  string
	CPUSlots    int
	FirstUID    int
	BuildNice   int
	Sandbox     string
	ObjectCache string
	Include     list
	Profile     bool
	NCU         string
	WarmPythons int
	Processes   int
	GaugeEvery  time.Duration
	Ahead       bool
}

// list is a flag that takes several values, separated by commas.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

// Type is the kind of value, for package pflag.
func (l *list) Type() string { return "list" }

// Set replaces the list with the comma-separated values of s.
// The last of several flags of one name counts, as it does for every other flag.
func (l *list) Set(s string) error {
	*l = nil
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

func (c *Config) fillIn() {
	if c.BaseURL == "" {
		c.BaseURL = "http://" + c.Addr
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	// Children of the process have other working directories, and messages name the folder.
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
		// The last of two equal names counts.
		name, dir, _ := strings.Cut(l, "=")
		libs[name] = dir
	}
	return libs
}
