package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"golang.org/x/sync/singleflight"

	"warpboard/models"
)

const (
	requestTimeout = 30 * time.Second
	largestHead    = 16 << 10 // headers must fit; cookies of other ports on 127.0.0.1 come too
	shutdownGrace  = 5 * time.Second
)

// Server answers HTTP. Build it with New, run it with Run.
type Server struct {
	cfg          Config
	base         *url.URL
	store        *models.Store
	hub          *Hub
	log          *slog.Logger
	app          *fiber.App
	metrics      *metrics
	profileFacts factCache
	providers    []*provider
	began        time.Time
	pings        singleflight.Group

	limits                         Limits
	proxies                        proxies
	connected, underWay, streaming *tally // connections, requests, live streams
	bodyBytes, strangerBytes       *tally

	// fiber's own request context never ends. Requests derive from the first of these, streams from
	// the second, because at the end streams must go at once while requests get a moment to finish.
	requests, streams         context.Context
	sending                   sync.WaitGroup // answers that were taken over
	stopRequests, stopStreams context.CancelFunc
}

// New builds a server from its configuration and opens nothing yet. The error is a sentence about the setting.
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	base, err := url.Parse(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	s := &Server{cfg: cfg, base: base, store: cfg.Store, hub: cfg.Hub, log: cfg.Log, began: cfg.Now().UTC()}
	if s.providers, err = newProviders(cfg.Providers, cfg.BaseURL); err != nil {
		return nil, err
	}
	if err := s.setLimits(); err != nil {
		return nil, err
	}
	s.requests, s.stopRequests = context.WithCancel(context.Background())
	s.streams, s.stopStreams = context.WithCancel(s.requests)
	s.metrics = newMetrics(s)
	s.app = s.newApp()
	s.routes(s.app)
	return s, nil
}

func (s *Server) newApp() *fiber.App {
	app := fiber.New(fiber.Config{
		AppName:               "Warpboard",
		DisableStartupMessage: true,
		ErrorHandler:          s.handleError,
		Immutable:             true, // strings that handlers keep must not change under them
		// Bodies are read by readBody, when it is known who sends them. The timeout is for the head alone.
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		ReadTimeout:                  s.limits.Head,
		WriteTimeout:                 s.limits.Answer,
		IdleTimeout:                  2 * time.Minute,
		ReadBufferSize:               largestHead,
		WriteBufferSize:              2 << 10,
		ReduceMemoryUsage:            true, // an open stream keeps no read buffer
		// Without trusted proxies fiber ignores X-Forwarded-Host and -Proto, which anyone can send.
		EnableTrustedProxyCheck: true,
	})
	app.Server().HeaderReceived = holdBody
	answerError := app.Server().ErrorHandler
	app.Server().ErrorHandler = func(request *fasthttp.RequestCtx, err error) { // what cannot be read reaches no route
		lingerAtClose(request.Conn())
		answerError(request, err)
	}
	app.Server().KeepHijackedConns = true // takeOver closes them
	return app
}

// App returns the fiber application, for tests that need no listener.
func (s *Server) App() *fiber.App { return s.app }

// Run listens on Config.Addr and serves until ctx ends; see Serve.
func (s *Server) Run(ctx context.Context) error {
	ln, err := net.Listen("tcp", s.cfg.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w (is another server running there? choose another with --addr)", s.cfg.Addr, err)
	}
	return s.Serve(ctx, ln)
}

// Serve answers requests on ln until ctx ends. Then streams are closed at once, requests get a few
// seconds to finish, and Serve returns nil. A server serves once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	s.log.Info("site is up", "url", s.cfg.BaseURL, "addr", ln.Addr().String())
	ended := make(chan error, 1)
	ln = newGuard(ln, s.connected, s.proxies, s.log)
	go func() { ended <- s.app.Listener(ln) }()
	select {
	case err := <-ended:
		return fmt.Errorf("web server: %w", errors.Join(err, errors.New("it stopped by itself")))
	case <-ctx.Done():
	}
	s.stopStreams()
	defer s.stopRequests()
	err := s.app.ShutdownWithTimeout(shutdownGrace)
	ln.Close() // for a shutdown that came before the server had taken the listener
	<-ended
	s.sending.Wait()
	if err != nil {
		s.log.Warn("web server cut open requests at its end", "error", err)
	}
	return nil
}

// secure tells whether browsers reach the site over TLS.
func (s *Server) secure() bool { return s.base.Scheme == "https" }

// now is the time in UTC.
func (s *Server) now() time.Time { return s.cfg.Now().UTC() }
