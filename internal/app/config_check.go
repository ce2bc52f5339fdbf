package app

import (
	"fmt"
	"log/slog"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/queue"
	"warpboard/internal/app/verify"
	"warpboard/internal/statement"
	"warpboard/models/files"
	"warpboard/web"
)

const (
	// maxCPUSlots is more than any machine has, and far below the number at which starting them would exhaust a
	// machine.
	maxCPUSlots = 1024
)

// validate returns a sentence for each invalid setting. It does not connect to the database or open ports. migrate and
// token ignore the settings of serve.
func (c *Config) validate(command string) []error {
	var wrong settingProblems
	var level slog.Level
	wrong.requireThat(level.UnmarshalText([]byte(c.LogLevel)) == nil, "--log-level %q: want debug, info, warn or error", c.LogLevel)
	wrong.requireThat(c.LogFormat == "text" || c.LogFormat == "json", "--log-format %q: want text or json", c.LogFormat)
	wrong.requireThat(c.DatabaseURL == "" || strings.HasPrefix(c.DatabaseURL, "postgres://") || strings.HasPrefix(c.DatabaseURL, "postgresql://"),
		"--database-url: want postgres://…; leave it empty for SQLite in --data")
	if files.IsS3(c.Artifacts) {
		_, err := files.Open(c.Artifacts, 0)
		wrong.requireThat(err == nil, "--artifacts: %w", err)
	}
	switch command {
	case "serve":
		c.Worker.check(&wrong)
		c.checkSite(&wrong)
		c.OAuth.check(&wrong)
	case "work":
		c.Worker.check(&wrong)
		wrong.requireThat(c.SiteAddress != "" || c.NATS.URL != "", "--site is needed: the address of the site, such as https://boards.example.org (or --nats-url)")
		wrong.requireThat(c.SiteAddress == "" || c.NATS.URL == "", "--site and --nats-url cannot be used together: both name the site's address")
		_, err := web.ParseBaseURL(c.SiteAddress)
		wrong.requireThat(c.SiteAddress == "" || err == nil, "--site %q: %w", c.SiteAddress, err)
		wrong.requireThat(c.Worker.Secret != "" || c.Worker.JoinToken != "", "--worker-secret is needed: create a credential on the site's queue page; or --join, with a token")
		wrong.requireThat(c.Worker.Secret == "" || c.Worker.JoinToken == "", "--worker-secret and --join cannot be used together: a worker that joins gets its own secret")
		wrong.requireThat(c.Worker.ExitConditions.AfterIdle == 0 || c.Worker.ExitConditions.AfterIdle >= time.Second, "--idle-exit %s: want 0, or 1s or more", c.Worker.ExitConditions.AfterIdle)
	}
	return wrong
}

// settingProblems collects the problems of all settings, to report them together.
type settingProblems []error

func (p *settingProblems) requireThat(ok bool, format string, args ...any) {
	if !ok {
		*p = append(*p, fmt.Errorf(format, args...))
	}
}

func (w WorkerSettings) check(wrong *settingProblems) {
	wrong.requireThat(w.SandboxMode == "on" || w.SandboxMode == "off", "--sandbox %q: want on or off", w.SandboxMode)
	wrong.requireThat(w.CPUSlots >= 0 && w.CPUSlots <= maxCPUSlots, "--cpu-slots %d: want 0 to %d", w.CPUSlots,
		maxCPUSlots)
	wrong.requireThat(w.FirstUID >= verify.MinSandboxUID, "--first-uid %d: want %d or more, the ids below are the system's own", w.FirstUID, verify.MinSandboxUID)
	wrong.requireThat(w.BuildNice >= 1 && w.BuildNice <= 19, "--build-nice %d: want 1 to 19", w.BuildNice)
	wrong.requireThat(w.MeasuringProcesses >= 1 && w.MeasuringProcesses <= harness.MaxProcesses, "--ranked-processes %d: want 1 to %d", w.MeasuringProcesses, harness.MaxProcesses)
	wrong.requireThat(w.SlotBenchmarkEvery == 0 || w.SlotBenchmarkEvery >= time.Minute, "--gauge-every %s: want 0, or 1m or more", w.SlotBenchmarkEvery)
	for _, lib := range w.IncludeLibraries {
		wrong.requireThat(strings.Contains(lib, "="), "--include-libraries %q: want name=directory", lib)
	}
}

func (c *Config) checkSite(wrong *settingProblems) {
	_, _, err := net.SplitHostPort(c.Addr)
	wrong.requireThat(err == nil, "--addr %q: want host:port: %w", c.Addr, err)
	u, err := web.ParseBaseURL(c.BaseURL)
	wrong.requireThat(err == nil, "--base-url %q: %w", c.BaseURL, err)
	c.TLS.check(wrong, u)
	wrong.requireThat(c.Contact == "" || isContactAddress(c.Contact), "--contact %q: want an address like security@example.org, or https://…", c.Contact)
	wrong.requireThat(c.MinFreeMiB >= 0, "--min-free-disk %d: want 0 or more MiB", c.MinFreeMiB)
	wrong.requireThat(c.SubmissionsPerHour >= 0, "--submissions-per-hour %d: want 0 or more", c.SubmissionsPerHour)
	wrong.requireThat(c.MaxWaitingRuns >= 0, "--waiting-runs %d: want 0 or more", c.MaxWaitingRuns)
	wrong.requireThat(c.MaxEvaluationsPerCaller >= 1, "--evaluations-at-once %d: want 1 or more",
		c.MaxEvaluationsPerCaller)
	if c.SigningKey != "" {
		_, err := statement.ReadKey([]byte(c.SigningKey))
		wrong.requireThat(err == nil, "--signing-key: %w", err)
	}
	// --nats-account-seed without --nats-url is allowed and has no effect: the embedded server checks credentials with
	// the site directly.
	n := c.NATS
	wrong.requireThat(n.URL == "" || n.Listen == "", "--nats-url and --nats-listen cannot be used together: --nats-listen is for the embedded queue")
	if n.AccountSeed != "" {
		err := queue.CheckSeed(n.AccountSeed)
		wrong.requireThat(err == nil, "--nats-account-seed: want the seed of an account key, as nk -gen account prints it: %w", err)
	}
	wrong.requireThat((n.TLSCert == "") == (n.TLSKey == ""), "--nats-tls-cert and --nats-tls-key belong together: one is missing")
	wrong.requireThat(n.TLSCert == "" || n.Listen != "", "--nats-tls-cert is for --nats-listen, which is missing")
	_, err = c.metricsNetworks()
	wrong.requireThat(err == nil, "--metrics-from %w", err)
	_, err = web.ParseAddresses(c.WebhookNetworks)
	wrong.requireThat(err == nil, "--webhook-allow %w", err)
	_, err = c.SMTP.sender()
	wrong.requireThat(c.SMTP.Host == "" || err == nil, "--smtp-from %q: want an address, as Warpboard <boards@example.org>", c.SMTP.From)
	wrong.requireThat(c.SMTP.Host == "" || c.SMTP.Port > 0 && c.SMTP.Port < 1<<16, "--smtp-port %d: want 1 to 65535", c.SMTP.Port)
	wrong.requireThat(c.SMTP.Host != "" || c.SMTP.User == "" && c.SMTP.Password == "" && c.SMTP.From == "", "--smtp-host is missing: the server of the other --smtp settings")
	wrong.requireThat((c.SMTP.User == "") == (c.SMTP.Password == ""), "--smtp-user and --smtp-password belong together: one is missing")
	switch c.OpenEvalAPI {
	case "all", "loopback", "none":
	default:
		*wrong = append(*wrong, fmt.Errorf("--open-eval-api %q: want all, loopback or none", c.OpenEvalAPI))
	}
}

// sender returns the sender's address of e-mails.
func (s SMTPSettings) sender() (mail.Address, error) {
	from, err := mail.ParseAddress(s.From)
	if err != nil {
		return mail.Address{}, err
	}
	return *from, nil
}

// metricsNetworks returns the networks that may read metrics: nil if not set, and empty if no network may.
func (c *Config) metricsNetworks() ([]netip.Prefix, error) {
	switch {
	case len(c.MetricsNetworks) == 0:
		return nil, nil
	case slices.Equal(c.MetricsNetworks, listFlag{"none"}):
		return []netip.Prefix{}, nil
	}
	return web.ParseAddresses(c.MetricsNetworks)
}

// isContactAddress reports whether contact is an e-mail address or a URL.
func isContactAddress(contact string) bool {
	if address, err := mail.ParseAddress(contact); err == nil {
		return address.Address == contact
	}
	u, err := url.Parse(contact)
	return err == nil && u.Scheme == "https" && u.Host != ""
}
