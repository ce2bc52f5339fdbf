package outbox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"strconv"
	"time"

	"warpboard/models/inbox"
)

// implicitTLSPort is the port with TLS from the first byte; other ports use STARTTLS.
const implicitTLSPort = 465

// mailTimeout limits the time for one mail, from the connection to the last response of the server.
const mailTimeout = 30 * time.Second

// SMTPServer is the SMTP server of the operator.
type SMTPServer struct {
	Host          string
	Port          int
	User          string // empty for no authentication
	Password      string
	SenderAddress mail.Address
	RootCAs       *x509.CertPool // trusted authorities; nil for the system's
}

// smtpSession is a connection on which mails are sent.
type smtpSession struct {
	*smtp.Client
	conn net.Conn
}

// isLocal reports whether the server is on this machine, so that TLS is not needed.
func (s SMTPServer) isLocal() bool {
	ip := net.ParseIP(s.Host)
	return s.Host == "localhost" || ip != nil && ip.IsLoopback()
}

// dial opens a session, with TLS and authentication.
func (s SMTPServer) dial(ctx context.Context) (*smtpSession, error) {
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	trust := &tls.Config{ServerName: s.Host, RootCAs: s.RootCAs, MinVersion: tls.VersionTLS12}
	address := net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
	var conn net.Conn
	var c *smtp.Client
	var err error
	if s.Port == implicitTLSPort {
		conn, err = (&tls.Dialer{Config: trust}).DialContext(ctx, "tcp", address)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	if err != nil {
		return nil, err
	}
	if err = conn.SetDeadline(time.Now().Add(mailTimeout)); err == nil {
		c, err = smtp.NewClient(conn, s.Host)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if err := s.startTLS(c, trust); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &smtpSession{c, conn}, nil
}

func (s SMTPServer) startTLS(c *smtp.Client, trust *tls.Config) error {
	if can, _ := c.Extension("STARTTLS"); can && s.Port != implicitTLSPort {
		if err := c.StartTLS(trust); err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
	}
	if _, secure := c.TLSConnectionState(); !secure && !s.isLocal() {
		return errors.New("the server offers no TLS")
	}
	if s.User == "" {
		return nil
	}
	if err := c.Auth(smtp.PlainAuth("", s.User, s.Password, s.Host)); err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	return nil
}

// smtpRefusal means that the server refused one mail. If it is permanent, sending it again would fail, too.
type smtpRefusal struct {
	err         error
	isPermanent bool
}

func (r smtpRefusal) Error() string { return r.err.Error() }

// send sends one mail. If it returns a smtpRefusal, the session can send other mails; after any other error it must not
// be used.
func (s SMTPServer) send(c *smtpSession, m inbox.Mail, text []byte) error {
	if err := c.conn.SetDeadline(time.Now().Add(mailTimeout)); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return c.Mail(s.SenderAddress.Address) },
		func() error { return c.Rcpt(m.Address) },
		func() error {
			w, err := c.Data()
			if err != nil {
				return err
			}
			_, err = w.Write(text)
			return errors.Join(err, w.Close())
		},
	} {
		err := step()
		var answer *textproto.Error
		if errors.As(err, &answer) {
			return smtpRefusal{err, answer.Code >= 500}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
