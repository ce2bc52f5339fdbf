package web

import (
	"cmp"
	"crypto/tls"
	"net/netip"
	"net/url"

	"warpboard/views"
	"warpboard/web/conns"
	"warpboard/web/signin"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

const defaultBundleLimit = 32 << 20

// SiteConfig has the shared dependencies and settings of all handlers.
type SiteConfig = site.Config

// Settings are the site's settings that all handlers share.
type Settings = site.Settings

// Config has the settings of a Server: the shared ones, and those of single handler packages.
type Config struct {
	SiteConfig

	Queue              Queue       // nil: the probes do not check the queue
	IsStopping         func() bool // reports that this process is stopping; nil: always false
	UsesOwnNATSCluster bool        // workers connect to the operator's NATS cluster, not to the site
	TLS                *tls.Config // TLS configuration; nil: plain HTTP, for a proxy that handles TLS or for none

	Providers []signin.ProviderConfig // ways to sign in; none on a loopback address: developer sign-in
	// Admins lists admins as "provider:login", "provider:id:ID", or a verified e-mail address with or without its
	// provider.
	Admins []string

	BundleLimit int // largest task zip in bytes; 0: 32 MiB
	// callers that may evaluate without a token: "all", "loopback", or "none"; empty: "none"
	TokenlessEvaluators string
	EvalLimits          evaluations.Limits

	// MetricsNetworks lists the networks that may read the metrics without a token. nil means this machine, unless a
	// proxy forwards requests.
	MetricsNetworks []netip.Prefix
	MetricsToken    string // bearer token that permits reading the metrics; empty: none

	Attacks         []views.Attack // the attacks with their last results, for /trust; may be empty
	SecurityContact string         // where to report holes, a mail or https:// address; empty: the page names no contact
}

func (c Config) bundleLimit() int { return cmp.Or(c.BundleLimit, defaultBundleLimit) }

// ParseAddresses reads addresses and networks, like 10.0.0.7 and 10.0.0.0/8, for Config.MetricsNetworks.
func ParseAddresses(texts []string) ([]netip.Prefix, error) { return conns.ParseNetworks(texts) }

// ParseBaseURL parses the public URL of a site, for Config.BaseURL. The error text continues a sentence such as
// "base-url: …".
func ParseBaseURL(text string) (*url.URL, error) {
	base, _, err := site.ParseAddress(text)
	return base, err
}

// Hub receives announcements from the dispatcher and passes them to open pages.
type Hub = site.Hub

// Signing has the private key that signs statements.
type Signing = site.Signing

// NewHub returns a hub without readers.
func NewHub() *Hub { return site.NewHub() }

// ProviderConfig configures one sign-in provider.
type ProviderConfig = signin.ProviderConfig
