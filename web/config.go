package web

import (
	"cmp"
	"crypto/tls"
	"log/slog"
	"net/netip"
	"net/url"
	"time"

	"warpboard/evaluator/dispatch"
	"warpboard/models"
	"warpboard/views"
	"warpboard/web/mount"
	"warpboard/web/signin"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
	"warpboard/web/wire"
)

const defaultBundleLimit = 32 << 20

// Config is everything that a Server is built from.
type Config struct {
	Store      *models.Store
	Dispatcher *dispatch.Dispatcher // woken after a submission, and cancels runs
	Hub        *site.Hub
	Queue      Queue       // nil: not asked
	Stopping   func() bool // whether this process stops; nil: never
	OwnCluster bool        // workers connect to the operator's NATS cluster, not to the site
	Disk       string      // directory whose disk is watched; empty: none is
	MinFree    int64       // bytes: with less on that disk nothing can be submitted; 0: submitting is never refused

	Addr    string      // address to listen on, "127.0.0.1:3000"
	TLS     *tls.Config // of the connections; nil: a proxy has it, or no one
	BaseURL string      // how browsers reach the site, "https://boards.example.org", maybe with a path; empty: http:// and Addr

	Providers []signin.ProviderConfig // ways to sign in; none on a loopback address: developer sign-in
	Admins    []string                // "provider:login", "provider:id:ID", or a verified e-mail address with or without its provider

	SandboxOff  bool          // the worker runs programs unprotected: every page says so
	BundleLimit int           // largest task zip in bytes; 0: 32 MiB
	Heartbeat   time.Duration // of streams, when a reader's sign-in is checked again; 0: 15 s
	OpenEvalAPI string        // who may evaluate without a token: "all", "loopback" or "none"; empty: none
	EvalLimits  evaluations.Limits

	Signing Signing // of statements; the zero value signs nothing

	TrustedProxies []string // addresses and networks of reverse proxies, whose X-Forwarded-For is believed; none: this machine
	Limits         site.Limits

	MetricsFrom  []netip.Prefix // who may read the site's metrics without a token; nil: this machine, while no proxy is in front
	MetricsToken string         // for those who may with one, beside admins; empty: only they

	Attacks []views.Attack // the corpus with its last results, for /trust; none: the page says so
	Contact string         // where to report holes, a mail or https:// address; empty: the page names no one
	Version string
	Log     *slog.Logger
	Now     func() time.Time // nil: time.Now
}

// site is the part of the settings that every handler may know.
func (c Config) site() site.Config {
	return site.Config{
		Store: c.Store, Dispatcher: c.Dispatcher, Hub: c.Hub, Log: c.Log, Now: c.Now,
		Addr: c.Addr, BaseURL: c.BaseURL, Version: c.Version,
		SandboxOff: c.SandboxOff, Heartbeat: c.Heartbeat, Disk: c.Disk, MinFree: c.MinFree,
		Signing: c.Signing, TrustedProxies: c.TrustedProxies, Limits: c.Limits,
	}
}

func (c Config) bundleLimit() int { return cmp.Or(c.BundleLimit, defaultBundleLimit) }

// ParseAddresses reads addresses and networks, like 10.0.0.7 and 10.0.0.0/8, for Config.MetricsFrom.
func ParseAddresses(texts []string) ([]netip.Prefix, error) { return wire.ParseNetworks(texts) }

// ParseBaseURL reads the public address of a site, for Config.BaseURL. The error is the end of a sentence.
func ParseBaseURL(text string) (*url.URL, error) {
	base, _, err := mount.ParseAddress(text)
	return base, err
}

// Hub is what the recorder and the dispatcher announce to; open pages listen to it.
type Hub = site.Hub

// Signing is the key that statements are signed with.
type Signing = site.Signing

// NewHub returns a hub without readers.
func NewHub() *Hub { return site.NewHub() }

// ProviderConfig switches one way to sign in on.
type ProviderConfig = signin.ProviderConfig
