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

// implicitTLS is the port with TLS from the start; others use STARTTLS.
const implicitTLS = 465

// mailAnswerIn limits the time for one mail, from the connection to the server's last answer.
const mailAnswerIn = 30 * time.Second

// Server is the operator's SMTP server.
type Server struct {
	Host     string
	Port     int
	User     string // empty for no authentication
	Password string
	From     mail.Address
	Roots    *x509.CertPool // trusted authorities; nil for the system's
}

// session is a connection for sending mails.
type session struct {
	*smtp.Client
	conn net.Conn
}

// onThisMachine reports whether the server is on this machine, so that TLS is not needed.
func (s Server) onThisMachine() bool {
	ip := net.ParseIP(s.Host)
	return s.Host == "localhost" || ip != nil && ip.IsLoopback()
}

// dial opens a session, with TLS and authentication.
func (s Server) dial(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, mailAnswerIn)
	defer cancel()
	trust := &tls.Config{ServerName: s.Host, RootCAs: s.Roots, MinVersion: tls.VersionTLS12}
	address := net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
	var conn net.Conn
	var c *smtp.Client
	var err error
	if s.Port == implicitTLS {
		conn, err = (&tls.Dialer{Config: trust}).DialContext(ctx, "tcp", address)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	if err != nil {
		return nil, err
	}
	if err = conn.SetDeadline(time.Now().Add(mailAnswerIn)); err == nil {
		c, err = smtp.NewClient(conn, s.Host)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if err := s.secure(c, trust); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &session{c, conn}, nil
}

func (s Server) secure(c *smtp.Client, trust *tls.Config) error {
	if can, _ := c.Extension("STARTTLS"); can && s.Port != implicitTLS {
		if err := c.StartTLS(trust); err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
	}
	if _, secure := c.TLSConnectionState(); !secure && !s.onThisMachine() {
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

// refusal is the server's refusal of one mail. If it is permanent, retrying is useless.
type refusal struct {
	err     error
	forGood bool
}

func (r refusal) Error() string { return r.err.Error() }

// send sends one mail. A refusal is about this mail; any other error is about the session, which must not be used
// again.
func (s Server) send(c *session, m inbox.Mail, text []byte) error {
	if err := c.conn.SetDeadline(time.Now().Add(mailAnswerIn)); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return c.Mail(s.From.Address) },
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
			return refusal{err, answer.Code >= 500}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
