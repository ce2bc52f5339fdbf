package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"warpboard/evaluator"
	"warpboard/evaluator/dispatch"
	"warpboard/evaluator/queue"
	"warpboard/internal/outbox"
	"warpboard/internal/statement"
	"warpboard/models"
	"warpboard/models/submissions"
	hooks "warpboard/models/webhooks"
	"warpboard/views/outcome"
	"warpboard/web"
)

// runServe runs the site, with a worker unless --no-worker is set.
//
// Components start in the order of their dependencies, and defers stop them in reverse: lock, store, tasks, queue,
// loops. The store migrates before any connection is accepted, and the queue opens after tasks are installed.
func runServe(ctx context.Context, env Environment, cfg *Config) error {
	log := cfg.logger(env.Stderr)
	release, err := lockDataDir(cfg.Data)
	if err != nil {
		return err
	}
	defer release()
	defer logStopSignal(ctx, cfg, log)()
	id, err := readReplicaName(cfg.Data)
	if err != nil {
		return err
	}
	store, err := openStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := installTasks(ctx, store, cfg.Tasks, cfg.TaskDevices, log); err != nil {
		return err
	}
	if _, err := store.StartAllBaselines(ctx); err != nil {
		return err
	}
	if err := reserveWorkerName(ctx, cfg, store, id, log); err != nil {
		return err
	}
	q, err := openQueue(ctx, cfg, store, log)
	if err != nil {
		return err
	}
	defer q.Close()
	return ServeSite(ctx, cfg, store, q, log)
}

func openStore(ctx context.Context, cfg *Config, log *slog.Logger) (*models.Store, error) {
	allowed, _ := web.ParseAddresses(cfg.WebhookNetworks) // cannot fail: validate has checked the setting
	return models.Open(ctx, models.Config{
		Dir: cfg.Data, MinFreeBytes: int64(cfg.MinFreeMiB) << 20, ArtifactLocation: cfg.Artifacts, DSN: cfg.DatabaseURL,
		Log:                log,
		ConfirmFirstPlaces: cfg.ConfirmRecords, NoBaselines: !cfg.RunBaselines, SiteURL: cfg.BaseURL, SendMails: cfg.SMTP.Host != "", Webhooks: hooks.AllowedNetworks{ForSite: allowed}, SubmissionLimits: submissions.SubmissionLimits{SubmissionsPerHour: cfg.SubmissionsPerHour, MaxUnfinishedRuns: cfg.MaxWaitingRuns},
	})
}

func openQueue(ctx context.Context, cfg *Config, store *models.Store, log *slog.Logger) (*queue.Queue, error) {
	return queue.OpenQueue(ctx, queue.Config{
		ClusterURL: cfg.NATS.URL, ClusterCAFile: cfg.NATS.TLSCA,
		AccountSeed: cfg.NATS.AccountSeed, ClusterAccount: cfg.NATS.Account,
		ListenAddress: cfg.NATS.Listen, CertFile: cfg.NATS.TLSCert, KeyFile: cfg.NATS.TLSKey,
		Authorize: queueAuthorizer(store), Log: log,
	})
}

// ServeSite runs the loops of the site with the caller's store and queue. When ctx ends, dispatcher and worker stop,
// the worker finishes or hands back its jobs, and only then the site stops answering workers, so that the last results
// are stored. Pages are served until then.
//
// Pages are served before the loops run: a starting site shows an empty queue instead of an error. The first loop that
// fails ends all others, and so the process, which its supervisor restarts. receive, the dispatcher, and the senders of
// webhooks and mail log their errors and continue; they return only with ctx, or if their connection is closed
// permanently.
//
// Workers are answered until this process's own worker has ended, including requests from before that.
func ServeSite(ctx context.Context, cfg *Config, store *models.Store, q *queue.Queue, log *slog.Logger) error {
	hub := web.NewHub()
	dispatcher := dispatch.NewDispatcher(store, q, hub, log)
	receive := shareViewerChanges(q, hub, dispatcher, store)
	site := cfg.webConfig(store, dispatcher, q, hub, log)
	site.IsStopping = func() bool { return ctx.Err() != nil }
	server, err := newServer(ctx, cfg, site)
	if err != nil {
		return err
	}
	ln, err := systemdOrNewListener(cfg.Addr)
	if err != nil {
		return err
	}
	pages := startStoppableLoop(ctx, func(ctx context.Context) error { return server.Serve(ctx, ln) })
	logSignIn(server.SignInLink(), cfg.OAuth.providers(), log)
	answering := startStoppableLoop(ctx, func(ctx context.Context) error { return q.Serve(ctx, dispatcher) })

	loops, loopCtx := errgroup.WithContext(ctx)
	loops.Go(func() error { return receive(loopCtx) })
	loops.Go(func() error { return dispatcher.Run(loopCtx) })
	loops.Go(func() error { return webhookSender(cfg, store, log).Run(loopCtx) })
	if cfg.SMTP.Host != "" {
		loops.Go(func() error { return mailSender(cfg, store, log).Run(loopCtx) })
	}
	if !cfg.NoWorker {
		loops.Go(func() error { return runSiteWorker(loopCtx, cfg, q, log) })
	}
	loops.Go(func() error { return pages.waitForFailure(loopCtx, "web server ended") })
	loops.Go(func() error { return answering.waitForFailure(loopCtx, "answering workers ended") })
	err = loops.Wait()
	answering.stop()
	<-answering.loopEnded
	pages.stop()
	<-pages.loopEnded
	return ignoreCancelled(errors.Join(err, answering.err, pages.err))
}

// logSignIn logs the operator's sign-in link, if there is one. A site with neither link nor provider logs a warning.
func logSignIn(link string, providers []web.ProviderConfig, log *slog.Logger) {
	switch {
	case link != "":
		log.Info("open this link to sign in as an admin; it works once, and after a restart there is a new one", "link", link)
	case len(providers) == 0:
		log.Warn("no one can sign in in a browser: set the key and the secret of a sign-in provider, and restart; /docs/sign-in lists the providers")
	}
}

// stoppableLoop is a loop that continues after ctx ends, until stop.
type stoppableLoop struct {
	stop      context.CancelFunc
	loopEnded chan struct{}
	err       error // set once it has ended
}

func startStoppableLoop(ctx context.Context, run func(context.Context) error) *stoppableLoop {
	l := &stoppableLoop{loopEnded: make(chan struct{})}
	// Independent of ctx: the caller must call stop, or the loop outlives an orderly exit.
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(l.loopEnded)
		l.err = run(ctx)
	}()
	return l
}

// waitForFailure waits until ctx ends or the loop ends, which is an error.
func (l *stoppableLoop) waitForFailure(ctx context.Context, what string) error {
	select {
	case <-l.loopEnded:
		return fmt.Errorf("%s: %w", what, l.err)
	case <-ctx.Done():
		return nil
	}
}

// webhookSender returns the sender of webhooks.
func webhookSender(cfg *Config, store *models.Store, log *slog.Logger) *outbox.WebhookDeliverer {
	allowed, _ := web.ParseAddresses(cfg.WebhookNetworks) // cannot fail: validate has checked the setting
	return outbox.NewWebhookDeliverer(outbox.WebhookConfig{LoopConfig: outbox.LoopConfig{Store: store, Log: log}, AllowedForSite: allowed, Version: programVersion(),
		ChatMessage: outcome.WebhookMessageText})
}

// mailSender returns the sender of e-mail.
func mailSender(cfg *Config, store *models.Store, log *slog.Logger) *outbox.Mailer {
	from, _ := cfg.SMTP.sender() // cannot fail: validate has checked the setting
	s := cfg.SMTP
	return outbox.NewMailer(outbox.MailConfig{LoopConfig: outbox.LoopConfig{Store: store, Log: log},
		SiteAddress: cfg.BaseURL,
		Server: outbox.SMTPServer{Host: s.Host, Port: s.Port, User: s.User, Password: s.Password,
			SenderAddress: from}})
}

// newServer returns the web server, with the attacks to show and the key for signatures.
func newServer(ctx context.Context, cfg *Config, site web.Config) (server *web.Server, err error) {
	if site.Attacks, err = attackCorpus(); err != nil {
		return nil, err
	}
	if site.Signing, err = siteSigningKey(ctx, cfg, site.Store); err != nil {
		return nil, err
	}
	if site.TLS, err = cfg.TLS.config(cfg.BaseURL, filepath.Join(cfg.Data, "certificates")); err != nil {
		return nil, err
	}
	return web.New(site)
}

// siteSigningKey returns the key of the site's statements: the configured one, or the one in the data directory, which
// is created at the first start. If it is lost, signed statements stay valid: public keys are in the database.
func siteSigningKey(ctx context.Context, cfg *Config, store *models.Store) (s web.Signing, err error) {
	if cfg.SigningKey != "" {
		s.Key, err = statement.ReadKey([]byte(cfg.SigningKey))
	} else {
		s.Key, err = statement.ReadOrCreateKey(filepath.Join(cfg.Data, "signing.key"))
	}
	if err == nil {
		s.Keys, err = store.RecordSigningKey(ctx, s.Key)
	}
	return s, err
}

// runSiteWorker runs the site's own worker. The site continues without a failed worker, and shows that on its queue
// page.
func runSiteWorker(ctx context.Context, cfg *Config, q *queue.Queue, log *slog.Logger) error {
	err := runWorker(ctx, cfg, queue.WorkerConfig{Queue: q}, log, func(*evaluator.Config) {})
	if errors.Is(err, evaluator.ErrSelfTest) {
		log.Error("the site's own worker took no jobs", "err", err)
		return nil
	}
	return err
}

// logStopSignal logs the stop signal and the steps that follow.
func logStopSignal(ctx context.Context, cfg *Config, log *slog.Logger) (forget func() bool) {
	return context.AfterFunc(ctx, func() {
		log.Info("stopping: runs have until --grace to finish; the others continue on another worker or after the next start", "grace", cfg.ShutdownGrace)
	})
}

func ignoreCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// queueAuthorizer returns a function that checks a remote worker's credential for the queue. An error of the database
// is not a refusal.
func queueAuthorizer(store *models.Store) func(name, secret string) ([]string, bool, error) {
	return func(name, secret string) ([]string, bool, error) {
		// The queue's server waits for this in the goroutine of an unauthenticated connection.
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return store.Fleet.AuthorizeWorker(ctx, name, secret)
	}
}

// webConfig returns the site's part of the settings.
func (c *Config) webConfig(
	store *models.Store, d *dispatch.Dispatcher, q *queue.Queue, hub *web.Hub, log *slog.Logger,
) web.Config {
	from, _ := c.metricsNetworks() // cannot fail: validate has checked the setting
	cfg := web.Config{
		SiteConfig: web.SiteConfig{Store: store, Dispatcher: d, Hub: hub, Log: log, Settings: web.Settings{
			Addr: c.Addr, BaseURL: c.BaseURL, Version: programVersion(), TrustedProxies: c.TrustedProxies,
			SandboxOff: c.Worker.SandboxMode == "off" && !c.NoWorker,
		}},
		Queue: q, UsesOwnNATSCluster: c.NATS.URL != "", Providers: c.OAuth.providers(), Admins: c.Admins,
		SecurityContact:     c.Contact,
		TokenlessEvaluators: c.OpenEvalAPI, MetricsNetworks: from, MetricsToken: c.MetricsToken,
	}
	cfg.EvalLimits.MaxLive = c.MaxEvaluationsPerCaller
	return cfg
}
