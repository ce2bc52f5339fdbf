package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/dispatch"
	"warpboard/internal/statement"
	"warpboard/models"
	"warpboard/web/conns"
)

const defaultHeartbeat = 15 * time.Second

// Config has the dependencies and settings of a site.
type Config struct {
	Store      *models.Store
	Dispatcher *dispatch.Dispatcher // Submitting wakes it, and it cancels runs.
	Hub        *Hub
	Log        *slog.Logger
	Now        func() time.Time // in UTC; nil for time.Now
	Settings
}

// Settings has the settings that all handlers share.
type Settings struct {
	Addr    string // address to listen on, "127.0.0.1:3000"
	BaseURL string // URL of the site for browsers, "https://boards.example.org", optionally with a path; empty for http:// and Addr
	Version string

	SandboxOff bool // the worker runs programs without a sandbox; every page shows a warning
	// interval of a stream's heartbeats, at which the reader's sign-in is checked again; 0 for 15 s
	Heartbeat time.Duration

	Signing Signing // key for statements; the zero value signs nothing

	TrustedProxies []string // addresses and networks of trusted reverse proxies; empty for this machine
	Limits         Limits
}

// Signing has the private key that signs statements, and the public keys of this and earlier keys.
type Signing struct {
	Key  statement.SigningKey
	Keys statement.PublicKeyList
}

// Site has the dependencies that all handler packages share.
type Site struct {
	Store      *models.Store
	Dispatcher *dispatch.Dispatcher
	Hub        *Hub
	Log        *slog.Logger
	Now        func() time.Time // in UTC
	Settings   Settings
	Base       *url.URL
	BasePath   BasePath // path of Base; handlers use paths without it
	Proxies    conns.Proxies

	Limiter     *conns.Limiter
	waitPermits chan struct{} // one element for each request with ?wait= that uses the database now

	// RequestContext and StreamContext are the parent contexts of requests and streams, because fiber's request context
	// never ends. At shutdown, StreamContext ends at once and RequestContext some seconds later.
	RequestContext, StreamContext context.Context
	StopRequests, StopStreams     context.CancelFunc
	SendingGroup                  conns.GoroutineGroup // waits at shutdown for responses that StreamBody writes

	codeTries     *RateLimiter // limits how often a person or the visitors may try invite codes
	renderBuffers sync.Pool    // *bytes.Buffer values, reused for rendering; most grow to about 256 kB
}

// New returns a site with default settings where cfg has none. The error is a message for the operator about an invalid
// setting.
func New(cfg Config) (*Site, error) {
	if cfg.Store == nil || cfg.Hub == nil || cfg.Dispatcher == nil || cfg.Log == nil {
		return nil, errors.New("web: a server needs Store, Hub, Dispatcher and Log")
	}
	s := &Site{
		Store: cfg.Store, Dispatcher: cfg.Dispatcher, Hub: cfg.Hub, Log: cfg.Log, Settings: cfg.Settings,
		codeTries: NewRateLimiter(inviteTryInterval, maxInviteTriesAtOnce),
	}
	var err error
	address := cmp.Or(cfg.BaseURL, "http://"+browserHost(cfg.Addr))
	if s.Base, s.BasePath, err = ParseAddress(address); err != nil {
		return nil, fmt.Errorf("base URL %q: %w", address, err)
	}
	if s.Proxies, err = conns.ParseProxies(cfg.TrustedProxies); err != nil {
		return nil, err
	}
	s.Settings.BaseURL = s.Base.String()
	s.Settings.Heartbeat = cmp.Or(cfg.Heartbeat, defaultHeartbeat)
	now := time.Now
	if cfg.Now != nil {
		now = cfg.Now
	}
	s.Now = func() time.Time { return now().UTC() }
	s.setLimits()
	s.RequestContext, s.StopRequests = context.WithCancel(context.Background())
	s.StreamContext, s.StopStreams = context.WithCancel(s.RequestContext)
	return s, nil
}

// browserHost returns the host under which browsers on this machine reach a listening address: localhost for an address
// such as ":3000".
func browserHost(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return addr
}

// UsesTLS reports whether browsers reach the site over TLS.
func (s *Site) UsesTLS() bool { return s.Base.Scheme == "https" }

// IsOnlyOnThisMachine reports whether a request certainly comes from this machine to a site that only this machine can
// reach. It is false if the base URL names another host, because a proxy may forward requests without adding headers.
func (s *Site) IsOnlyOnThisMachine(c *fiber.Ctx) bool {
	return conns.IsLoopback(s.Settings.Addr) && conns.IsLoopback(s.Base.Host) && conns.IsFromThisMachine(c)
}

// CheckDisk returns an error if the disk is nearly full.
func (s *Site) CheckDisk() error {
	full, free, err := s.Store.Disk.IsNearlyFull()
	if err != nil || !full {
		return err
	}
	return &Failure{Status: fiber.StatusServiceUnavailable, Code: "disk_full", RetryAfter: time.Minute, Message: fmt.Sprintf(
		"The site's disk is nearly full: %d MiB are free, and the minimum is %d MiB. You can submit again when the operator has freed space.",
		free>>20, s.Store.Disk.MinFreeBytes>>20)}
}

// RequireFreeDisk refuses requests that store data while the disk is nearly full.
func (s *Site) RequireFreeDisk(c *fiber.Ctx) error {
	if err := s.CheckDisk(); err != nil {
		return err
	}
	return c.Next()
}

// VisitorIP returns the client's address as text; the proxy's address if it forwards none.
func (s *Site) VisitorIP(c *fiber.Ctx) string { return s.clientAddress(c).String() }

// SenderNetwork returns the address under which limits count the client; for IPv6 the /64 network.
func (s *Site) SenderNetwork(c *fiber.Ctx) string {
	if share := conns.SenderKeysOf(s.clientAddress(c)); len(share) > 0 {
		return share[0]
	}
	return ""
}

func (s *Site) clientAddress(c *fiber.Ctx) netip.Addr {
	if a := s.Proxies.ClientAddress(c); a.IsValid() {
		return a
	}
	return conns.PeerAddress(c)
}
