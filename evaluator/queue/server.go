package queue

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const (
	serverReady   = 10 * time.Second
	reconnectWait = 500 * time.Millisecond
)

func startServer(cfg Config, secret string, log *slog.Logger) (*server.Server, error) {
	if cfg.Dir == "" {
		return nil, errors.New("queue: the embedded NATS server needs a directory")
	}
	opts := &server.Options{
		ServerName:                 "warpboard",
		JetStream:                  true,
		StoreDir:                   cfg.Dir,
		NoSigs:                     true, // signals belong to the process
		MaxPayload:                 MaxMessage,
		DontListen:                 cfg.Listen == "",
		CustomClientAuthentication: &gate{secret: secret, authorize: cfg.Authorize, log: log},
	}
	if cfg.Listen != "" {
		if err := setAddress(opts, cfg.Listen); err != nil {
			return nil, err
		}
		if err := setCertificate(opts, cfg, log); err != nil {
			return nil, err
		}
	}
	ns, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("queue: set up the embedded NATS server: %w", err)
	}
	ns.SetLoggerV2(serverLog{log}, false, false, false)
	ns.Start()
	if !ns.ReadyForConnections(serverReady) {
		ns.Shutdown()
		return nil, fmt.Errorf("queue: the embedded NATS server was not ready after %s; is %q free and %s writable?",
			serverReady, cfg.Listen, cfg.Dir)
	}
	return ns, nil
}

func setAddress(opts *server.Options, listen string) error {
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

// setCertificate makes the port speak TLS and nothing else, where there is a certificate.
func setCertificate(opts *server.Options, cfg Config, log *slog.Logger) error {
	if cfg.Cert == "" {
		if ip := net.ParseIP(opts.Host); ip == nil || !ip.IsLoopback() {
			log.Warn("workers connect without TLS: their secrets and the jobs cross the network in clear", "listen", cfg.Listen)
		}
		return nil
	}
	cert, err := tls.LoadX509KeyPair(cfg.Cert, cfg.Key)
	if err != nil {
		return fmt.Errorf("queue: the certificate for %s: %w", cfg.Listen, err)
	}
	opts.TLS, opts.TLSTimeout = true, 5
	opts.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	return nil
}

// clientOptions are what the connections of site and workers share.
func clientOptions(name string, log *slog.Logger) []nats.Option {
	return []nats.Option{
		nats.Name(name),
		nats.CustomInboxPrefix(inboxPrefix + token(name)),
		nats.ReconnectWait(reconnectWait),
		// Refused subjects reach the client only here; the call itself looks like a timeout.
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			log.Warn("queue connection", "name", name, "err", err)
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("queue connection lost", "name", name, "err", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("queue connection is back", "name", name) }),
	}
}

// serverLog passes the embedded server's warnings and errors on; its notices are for debugging.
type serverLog struct{ log *slog.Logger }

func (l serverLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l serverLog) Warnf(format string, v ...any) {
	if strings.HasPrefix(format, "Maximum payloads") {
		return // MaxMessage is a choice: profiles are that large
	}
	l.log.Warn(fmt.Sprintf(format, v...))
}
func (l serverLog) Errorf(format string, v ...any) { l.log.Error(fmt.Sprintf(format, v...)) }
func (l serverLog) Fatalf(format string, v ...any) { l.log.Error(fmt.Sprintf(format, v...)) }
func (l serverLog) Debugf(string, ...any)          {}
func (l serverLog) Tracef(string, ...any)          {}
