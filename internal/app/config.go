package app

import (
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"warpboard/evaluator"
)

// Config has every setting of the program. A flag --some-name falls back to the environment variable
// WARPBOARD_SOME_NAME (or the content of the file named by WARPBOARD_SOME_NAME_FILE), then to some-name in the settings
// file, then to the default that --help prints.
type Config struct {
	SettingsFile   string // path of the settings file
	Addr           string
	Data           string
	BaseURL        string
	Contact        string
	DatabaseURL    string
	Artifacts      string
	SiteAddress    string // address of the site for a worker, instead of NATS.URL
	NATS           NATSSettings
	Tasks          string
	TaskDevices    listFlag
	Admins         listFlag
	TrustedProxies listFlag
	OAuth          SignInProviders
	TLS            TLSSettings

	Worker   WorkerSettings
	NoWorker bool

	MinFreeMiB         int // minimum free disk space, in MiB
	SubmissionsPerHour int
	// RunBaselines is true if the site runs the baselines of tasks.
	RunBaselines bool
	// ConfirmRecords is true if the site measures the 1st entry of a board again, alternating with the 2nd.
	ConfirmRecords bool
	// SigningKey is the private key, in PEM, that signs statements of results; "" means the key in a file in the
	// directory Data.
	SigningKey     string
	MaxWaitingRuns int
	// MaxEvaluationsPerCaller limits the evaluations of one caller that wait or run; additional ones of a batch are
	// queued later.
	MaxEvaluationsPerCaller int

	OpenEvalAPI     string
	MetricsNetworks listFlag
	MetricsToken    string
	WebhookNetworks listFlag
	SMTP            SMTPSettings
	ShutdownGrace   time.Duration
	LogLevel        string
	LogFormat       string
}

// SMTPSettings is the server for sending e-mail; without a host the site sends none.
type SMTPSettings struct {
	Host, User, Password, From string
	Port                       int
}

// NATSSettings has the address of the queue, TLS settings, and credentials.
type NATSSettings struct {
	URL, Listen            string
	TLSCert, TLSKey, TLSCA string
	AccountSeed, Account   string
}

// WorkerSettings configures this process as a worker, separately or inside serve.
type WorkerSettings struct {
	Name               string
	Secret             string
	JoinToken          string
	ExitConditions     evaluator.ExitConditions
	ShutdownNoticeFile string
	CPUSlots           int
	FirstUID           int
	BuildNice          int
	SandboxMode        string
	ObjectCache        string
	IncludeLibraries   listFlag
	ProfileRuns        bool
	NCUPath            string
	WarmPythons        int
	MeasuringProcesses int
	SlotBenchmarkEvery time.Duration
	PrecompileTasks    bool
}

// listFlag is a flag with several values, separated by commas.
type listFlag []string

func (l *listFlag) String() string { return strings.Join(*l, ",") }

// Type returns the kind of value, for package pflag.
func (l *listFlag) Type() string { return "list" }

// Set replaces the list by the comma-separated values of s. If a flag is given several times, the last one counts, as
// for every other flag.
func (l *listFlag) Set(s string) error {
	*l = nil
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

func (c *Config) fillDerivedSettings() {
	if c.BaseURL == "" {
		c.BaseURL = "http://" + c.Addr
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	// Child processes have other working directories, and messages show the path.
	if abs, err := filepath.Abs(c.Data); err == nil {
		c.Data = abs
	}
}

// logger returns the program's logger.
func (c *Config) logger(out io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // cannot fail: validate has checked the setting
	opts := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, opts))
	}
	return slog.New(slog.NewTextHandler(out, opts))
}

// includeLibraries returns the directories of IncludeLibraries by name.
func (w WorkerSettings) includeLibraries() map[string]string {
	libs := map[string]string{}
	for _, l := range w.IncludeLibraries {
		// If a name occurs twice, the last one counts.
		name, dir, _ := strings.Cut(l, "=")
		libs[name] = dir
	}
	return libs
}
