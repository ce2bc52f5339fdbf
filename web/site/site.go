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
	"warpboard/web/basepath"
	"warpboard/web/conns"
)

const defaultHeartbeat = 15 * time.Second

// Config is the parts and settings of a site.
type Config struct {
	Store      *models.Store
	Dispatcher *dispatch.Dispatcher // woken after a submission, and cancels runs
	Hub        *Hub
	Log        *slog.Logger
	Now        func() time.Time // in UTC; nil: time.Now
	Settings
}

// Settings are those that every handler may know.
type Settings struct {
	Addr    string // address to listen on, "127.0.0.1:3000"
	BaseURL string // how browsers reach the site, "https://boards.example.org", maybe with a path; empty: http:// and Addr
	Version string

	SandboxOff bool          // the worker runs programs unprotected: every page says so
	Heartbeat  time.Duration // of streams, when a reader's sign-in is checked again; 0: 15 s

	Signing Signing // of statements; the zero value signs nothing

	TrustedProxies []string // addresses and networks of reverse proxies, whose X-Forwarded-For is believed; none: this machine
	Limits         Limits
}

// Signing is the key for statements, and the published parts of this key and the former ones.
type Signing struct {
	Key  statement.Key
	Keys statement.Keys
}

// Site is what all rooms share. A room holds it as a field, beside what only that room needs.
type Site struct {
	Store      *models.Store
	Dispatcher *dispatch.Dispatcher
	Hub        *Hub
	Log        *slog.Logger
	Now        func() time.Time // in UTC
	Settings   Settings
	Base       *url.URL
	Mount      basepath.Path // in Base; all other addresses are from the site's own root
	Proxies    conns.Proxies

	Limiter *conns.Limiter
	turns   chan struct{} // of requests that ask to wait

	// fiber's own request context never ends. Requests derive from the first of these, streams from
	// the second, because at the end streams must go at once while requests get a moment to finish.
	Requests, Streams         context.Context
	StopRequests, StopStreams context.CancelFunc
	Sending                   conns.Group // answers that were taken over

	codes     *Pace     // of trying invite codes
	rendering sync.Pool // of *bytes.Buffer: a page grows one to 256 kB
}

// New fills in defaults and refuses settings that cannot work, with a sentence for the operator.
func New(cfg Config) (*Site, error) {
	if cfg.Store == nil || cfg.Hub == nil || cfg.Dispatcher == nil || cfg.Log == nil {
		return nil, errors.New("web: a server needs Store, Hub, Dispatcher and Log")
	}
	s := &Site{Store: cfg.Store, Dispatcher: cfg.Dispatcher, Hub: cfg.Hub, Log: cfg.Log, Settings: cfg.Settings, codes: NewPace(codeEvery, codesAhead)}
	var err error
	address := cmp.Or(cfg.BaseURL, "http://"+browserHost(cfg.Addr))
	if s.Base, s.Mount, err = basepath.ParseAddress(address); err != nil {
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
	s.Requests, s.StopRequests = context.WithCancel(context.Background())
	s.Streams, s.StopStreams = context.WithCancel(s.Requests)
	return s, nil
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

// Secure reports whether browsers reach the site over TLS.
func (s *Site) Secure() bool { return s.Base.Scheme == "https" }

// OnThisMachine reports whether a request surely comes from this machine to a site that serves only it.
// A base URL elsewhere means a proxy, which may leave no mark.
func (s *Site) OnThisMachine(c *fiber.Ctx) bool {
	return conns.IsLoopback(s.Settings.Addr) && conns.IsLoopback(s.Base.Host) && conns.FromThisMachine(c)
}

// Room refuses what would be stored while the disk is nearly full.
func (s *Site) Room() error {
	full, free, err := s.Store.Disk.Full()
	if err != nil || !full {
		return err
	}
	return &Failure{Status: fiber.StatusServiceUnavailable, Code: "disk_full", RetryAfter: time.Minute, Message: fmt.Sprintf(
		"The site's disk is nearly full: %d MiB are free, and the minimum is %d MiB. You can submit again when the operator has freed space.",
		free>>20, s.Store.Disk.MinFree>>20)}
}

// NeedsRoom refuses a request whose handler stores data while the disk is nearly full.
func (s *Site) NeedsRoom(c *fiber.Ctx) error {
	if err := s.Room(); err != nil {
		return err
	}
	return c.Next()
}

// VisitorIP is the visitor's address in words; a proxy's own when it does not say whose request it brings.
func (s *Site) VisitorIP(c *fiber.Ctx) string { return s.visitor(c).String() }

// VisitorShare names the visitor in limits: an address, or with IPv6 the smallest network that one visitor has.
func (s *Site) VisitorShare(c *fiber.Ctx) string {
	if share := conns.ShareOf(s.visitor(c)); len(share) > 0 {
		return share[0]
	}
	return ""
}

func (s *Site) visitor(c *fiber.Ctx) netip.Addr {
	if a := s.Proxies.Visitor(c); a.IsValid() {
		return a
	}
	return conns.Peer(c)
}
