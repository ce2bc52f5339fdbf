package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"golang.org/x/sync/singleflight"

	"warpboard/views"
	"warpboard/web/api"
	"warpboard/web/conns"
	"warpboard/web/evalapi"
	"warpboard/web/metrics"
	"warpboard/web/pages/account"
	"warpboard/web/pages/authoring"
	"warpboard/web/pages/boards"
	"warpboard/web/pages/docs"
	"warpboard/web/pages/operation"
	"warpboard/web/pages/playground"
	"warpboard/web/pages/submissions"
	"warpboard/web/popcorn"
	"warpboard/web/signin"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
	"warpboard/web/site/runs"
)

const (
	maxHeaderBytes = 16 << 10 // for all headers; browsers also send the cookies of other programs on 127.0.0.1
	shutdownGrace  = 5 * time.Second
	// maxCachedSourceBytes limits the cache of highlighted sources, in bytes. A source takes about 50 kB.
	maxCachedSourceBytes = 32 << 20
)

// Server is the HTTP server of a site. Create it with New and run it with Serve.
type Server struct {
	site               *site.Site
	queue              Queue
	usesOwnNATSCluster bool // an external NATS cluster, to which workers connect
	isStopping         func() bool
	tls                *tls.Config
	app                *fiber.App
	databasePings      singleflight.Group

	assets assets

	evaluations  *evaluations.Evaluations
	signIn       *signin.SignIn
	account      *account.Account
	authoring    *authoring.Authoring
	boards       *boards.Boards
	docs         *docs.Docs
	operation    *operation.Operation
	playground   *playground.Playground
	submissions  *submissions.Submissions
	api          *api.API
	evalAPI      *evalapi.API
	popcorn      *popcorn.Popcorn
	metrics      *metrics.Metrics
	pythonClient pythonClient
}

// New returns a server for a configuration. It opens no files or connections. The error is a sentence about the invalid
// setting.
func New(cfg Config) (*Server, error) {
	site, err := site.New(cfg.SiteConfig)
	if err != nil {
		return nil, err
	}
	s := &Server{site: site, queue: cfg.Queue, usesOwnNATSCluster: cfg.UsesOwnNATSCluster, isStopping: cfg.IsStopping,
		tls: cfg.TLS}
	if s.signIn, err = signin.New(site, cfg.Providers, cfg.Admins); err != nil {
		return nil, err
	}
	if s.evaluations, err = evaluations.New(site, cfg.TokenlessEvaluators, cfg.EvalLimits); err != nil {
		return nil, err
	}
	shared, code := runs.New(site), views.NewHighlighter(maxCachedSourceBytes, views.MaxHighlightedBytes)
	if s.docs, err = docs.New(site, shared, code, cfg.Attacks, cfg.SecurityContact); err != nil {
		return nil, err
	}
	s.account = account.New(site, shared, s.signIn)
	s.authoring = authoring.New(site, shared, code, cfg.bundleLimit())
	s.boards = boards.New(site, shared, s.signIn, code, cfg.Attacks)
	s.operation = operation.New(site, shared, code, s.queueHealth, cfg.UsesOwnNATSCluster)
	s.playground = playground.New(site, s.evaluations, code)
	s.submissions = submissions.New(site, shared, s.evaluations, code)
	s.api = api.New(site, shared, s.evaluations)
	s.popcorn = popcorn.New(site, shared)
	s.evalAPI, s.pythonClient = evalapi.New(site, s.evaluations), newPythonClient()
	access := metrics.MetricsAccess{Networks: cfg.MetricsNetworks, Token: cfg.MetricsToken}
	s.metrics = metrics.New(site, shared, s.evaluations, metricsQueue(cfg.Queue), access)
	s.app = s.newApp()
	s.routes(s.app)
	return s, nil
}

// SignInLink returns a one-time URL that signs the operator in if no provider is configured, or "".
func (s *Server) SignInLink() string { return s.signIn.DeveloperLink() }

func (s *Server) newApp() *fiber.App {
	app := fiber.New(fiber.Config{
		AppName:               "Warpboard",
		DisableStartupMessage: true,
		ErrorHandler:          s.site.HandleError,
		Immutable:             true, // copies strings of requests, so that handlers can keep them
		// Bodies are read by ReadBody after the sender is identified. ReadTimeout applies to the header only.
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		ReadTimeout:                  s.site.Settings.Limits.HeadTime,
		WriteTimeout:                 s.site.Settings.Limits.AnswerTime,
		IdleTimeout:                  2 * time.Minute,
		ReadBufferSize:               maxHeaderBytes,
		WriteBufferSize:              2 << 10,
		ReduceMemoryUsage:            true, // fewer buffers: an open stream has no read buffer
		// fiber otherwise trusts X-Forwarded-Host and X-Forwarded-Proto of every sender.
		EnableTrustedProxyCheck: true,
	})
	app.Server().HeaderReceived = hideContentLength
	answerError := app.Server().ErrorHandler
	// called for unreadable requests, which reach no route
	app.Server().ErrorHandler = func(request *fasthttp.RequestCtx, err error) {
		conns.DrainAtClose(request.Conn())
		answerError(request, err)
	}
	app.Server().Handler = s.site.BasePath.Handler(app.Server().Handler, probePaths...)
	app.Server().KeepHijackedConns = true // StreamBody closes hijacked connections
	return app
}

// Serve handles requests on ln until ctx ends. Then it ends streams at once, waits a few seconds for other requests,
// and returns nil. It must be called only once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	s.site.Log.Info("site is up", "url", s.site.Settings.BaseURL, "addr", ln.Addr().String())
	ended := make(chan error, 1)
	if s.tls != nil {
		ln = tls.NewListener(ln, s.tls)
	}
	ln = conns.NewLimitedListener(ln, s.site.Limiter, s.site.Proxies, s.site.Log)
	go func() { ended <- s.app.Listener(ln) }()
	select {
	case err := <-ended:
		return fmt.Errorf("web server: %w", errors.Join(err, errors.New("it stopped unasked")))
	case <-ctx.Done():
	}
	s.site.StopStreams()
	defer s.site.StopRequests()
	err := s.app.ShutdownWithTimeout(shutdownGrace)
	ln.Close() // Shutdown does not close ln if it precedes the server's first use of ln
	<-ended
	s.site.SendingGroup.Wait()
	if err != nil {
		s.site.Log.Warn("web server cut open requests when it stopped", "err", err)
	}
	return nil
}

// metricsQueue returns q as a metrics.Queue; nil for a nil q.
func metricsQueue(q Queue) metrics.Queue {
	if q == nil {
		return nil
	}
	return q
}
