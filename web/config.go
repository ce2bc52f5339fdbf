package web

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"time"

	"warpboard/evaluator/dispatch"
	"warpboard/models"
	"warpboard/views"
)

// Config is everything that a Server is built from.
type Config struct {
	Store      *models.Store
	Dispatcher *dispatch.Dispatcher // woken after a submission, and cancels runs
	Hub        *Hub
	Queue      Queue  // nil: not asked
	Disk       string // directory whose disk is watched; empty: none is
	MinFree    int64  // bytes: with less on that disk nothing can be submitted; 0: submitting is never refused

	Addr    string // address to listen on, "127.0.0.1:3000"
	BaseURL string // how browsers reach the site, "https://boards.example.org"; empty: http:// and Addr

	Providers []ProviderConfig // ways to sign in; none on a loopback address: developer sign-in
	Admins    []string         // "provider:login", "provider:id:number", or a verified e-mail address with or without its provider

	SandboxOff  bool          // the worker runs programs unprotected: every page says so
	BundleLimit int           // largest task zip in bytes; 0: DefaultBundleLimit
	Heartbeat   time.Duration // of streams, when a reader's sign-in is looked at again; 0: DefaultHeartbeat
	OpenEvalAPI string        // who may evaluate without a token: "all", "loopback" or "none"; empty: none
	EvalLimits  EvalLimits

	TrustedProxies []string // addresses and networks of reverse proxies, whose X-Forwarded-For is believed; none: this machine
	Limits         Limits

	MetricsFrom  []netip.Prefix // who may read the site's measures without a token; nil: this machine, while no proxy is in front
	MetricsToken string         // for those who may with one, beside admins; empty: only they

	Attacks []views.Attack // the corpus with its last results, for /trust; none: the page says so
	Version string
	Log     *slog.Logger
	Now     func() time.Time // nil: time.Now
}

// Defaults of Config's limits.
const (
	DefaultBundleLimit = 32 << 20
	DefaultHeartbeat   = 15 * time.Second
)

// check fills in defaults and refuses what cannot work, with a sentence for the operator.
func (c *Config) check() error {
	if c.Store == nil || c.Hub == nil || c.Dispatcher == nil || c.Log == nil {
		return errors.New("web: a server needs Store, Hub, Dispatcher and Log")
	}
	if c.BaseURL == "" {
		c.BaseURL = "http://" + browserHost(c.Addr)
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return fmt.Errorf("base URL %q: want http:// or https:// and a host, like https://boards.example.org", c.BaseURL)
	}
	if base.Path != "" && base.Path != "/" {
		return fmt.Errorf("base URL %q: the site must be at the root of its host, without a path", c.BaseURL)
	}
	c.BaseURL = base.Scheme + "://" + base.Host
	c.BundleLimit = orDefault(c.BundleLimit, DefaultBundleLimit)
	c.Heartbeat = cmp.Or(c.Heartbeat, DefaultHeartbeat)
	if err := c.checkEval(); err != nil {
		return err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}

func orDefault(value, standard int) int {
	if value == 0 {
		return standard
	}
	return value
}

// isLoopback tells whether a "host:port" or a host names this machine only.
func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// browserHost is the host under which a browser on this machine reaches a listening address: one that
// listens everywhere, like ":3000", is localhost.
func browserHost(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return addr
}
