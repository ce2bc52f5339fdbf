package queue

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// reconnectDelay is the pause between two tries to restore a connection. After a restart of the site, all workers
// reconnect within this time. With a longer pause their heartbeats would be late.
const reconnectDelay = 500 * time.Millisecond

// maxSubscriptions limits the subscriptions of one connection. A worker has one for responses, one for cancellations,
// and one per device.
const maxSubscriptions = 100

// maxPendingBytes limits what waits for one connection, also for the site's. Above three quarters of it the server drops
// further messages (NoFastProducerStall), and workers repeat their requests. With room for one more message above that
// the site's connection never reaches the limit, at which the server would cut it.
const maxPendingBytes = 5 * MaxMessage

// writeTimeout is the time after which the server closes a connection that reads nothing.
const writeTimeout = 2 * time.Second

const serverReadyTimeout = 10 * time.Second

func (q *Queue) startServer() error {
	opts, err := q.serverOptions()
	if err != nil {
		return err
	}
	if q.server, err = server.NewServer(opts); err != nil {
		return fmt.Errorf("queue: set up the embedded NATS server: %w", err)
	}
	var fatal atomic.Pointer[string]
	q.server.SetLoggerV2(serverLog{q.log, newLimitedLog(q.log), &fatal}, false, false, false)
	q.server.Start()
	if text := fatal.Load(); text != nil { // for example, the port is in use
		return fmt.Errorf("queue: start the embedded NATS server: %s", *text)
	}
	if !q.server.ReadyForConnections(serverReadyTimeout) {
		return fmt.Errorf("queue: the embedded NATS server was not ready after %s", serverReadyTimeout)
	}
	return nil
}

// serverOptions returns the embedded server's options.
func (q *Queue) serverOptions() (*server.Options, error) {
	opts := &server.Options{
		ServerName:                 "warpboard",
		NoSigs:                     true, // the server must not handle signals of the process
		MaxPayload:                 MaxMessage,
		MaxSubs:                    maxSubscriptions,
		MaxPending:                 maxPendingBytes,
		NoFastProducerStall:        true,
		WriteDeadline:              writeTimeout,
		WriteTimeout:               server.WriteTimeoutPolicyRetry, // a distant worker may read a large job slowly
		DontListen:                 q.cfg.ListenAddress == "",
		CustomClientAuthentication: authenticator{q},
	}
	if opts.DontListen {
		return opts, nil
	}
	if err := setListenAddress(opts, q.cfg.ListenAddress); err != nil {
		return nil, err
	}
	return opts, setCertificate(opts, q.cfg, q.log)
}

func setListenAddress(opts *server.Options, listen string) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("queue: listen address %q: %w", listen, err)
	}
	opts.Host = host
	if opts.Port, err = strconv.Atoi(port); err != nil {
		return fmt.Errorf("queue: listen address %q: the port must be a number", listen)
	}
	if opts.Port == 0 {
		opts.Port = server.RANDOM_PORT
	}
	return nil
}

// setCertificate makes the port accept only TLS if there is a certificate, and logs a warning otherwise.
func setCertificate(opts *server.Options, cfg Config, log *slog.Logger) error {
	if cfg.CertFile == "" {
		if ip := net.ParseIP(opts.Host); ip == nil || !ip.IsLoopback() {
			log.Warn("workers connect without TLS: their secrets and the jobs cross the network in clear", "listen", cfg.ListenAddress)
		}
		return nil
	}
	cert, err := tls.LoadX509KeyPair(cfg.CertFile, cfg.KeyFile)
	if err != nil {
		return fmt.Errorf("queue: the certificate for %s: %w", cfg.ListenAddress, err)
	}
	// The timeout is in seconds. A distant worker needs a few round trips, and an idle connection occupies a goroutine
	// for that long.
	opts.TLS, opts.TLSTimeout = true, 5
	opts.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	return nil
}

// clientOptions returns the NATS options of the site's and the workers' connections. lost is called at each disconnect.
func clientOptions(name string, log *slog.Logger, lost func()) []nats.Option {
	return []nats.Option{
		nats.Name(name),
		nats.CustomInboxPrefix(inboxPrefix + encodeToken(name)),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectDelay),
		nats.Timeout(connectTimeout),
		// nats.go reports a permission error only here; the request itself times out.
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			log.Warn("queue connection", "name", name, "err", err)
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("queue connection lost", "name", name, "err", err)
			}
			lost()
		}),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("queue connection is back", "name", name) }),
	}
}

// serverLog logs the messages of the embedded server: warnings and errors as such, notices at debug level. It stores
// the fatal error, which the server reports nowhere else.
type serverLog struct {
	log          *slog.Logger
	clientLog    *limitedLog // for messages about clients
	fatalMessage *atomic.Pointer[string]
}

func (l serverLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l serverLog) Warnf(format string, v ...any) {
	if strings.HasPrefix(format, "Maximum payloads") {
		return // a large payload limit is intended: profiles need it
	}
	l.write(slog.LevelWarn, fmt.Sprintf(format, v...))
}
func (l serverLog) Errorf(format string, v ...any) {
	l.write(slog.LevelError, fmt.Sprintf(format, v...))
}

// write logs a line. Lines about a client are limited, because anyone who can reach the port can cause thousands per
// second.
func (l serverLog) write(level slog.Level, text string) {
	if strings.Contains(text, "cid:") {
		l.clientLog.write(level, shortenForLog(text))
		return
	}
	l.log.Log(context.Background(), level, text)
}
func (l serverLog) Fatalf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.fatalMessage.CompareAndSwap(nil, &text)
	l.log.Error(text)
}
func (l serverLog) Debugf(string, ...any) {}
func (l serverLog) Tracef(string, ...any) {}
