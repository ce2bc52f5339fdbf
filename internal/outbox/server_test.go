package outbox_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"sync"
	"testing"
)

// postOffice is an SMTP server for tests that stores the mails that it receives.
type postOffice struct {
	net.Listener
	t     *testing.T
	certs []tls.Certificate
	Roots *x509.CertPool

	mu     sync.Mutex
	mails  []receivedMail
	answer func(recipient string) string // response to RCPT; "" accepts the recipient
	shut   bool                          // refuses all sessions
	plain  bool                          // offers no TLS
}

// receivedMail is one mail, with the security of the connection on which it arrived.
type receivedMail struct {
	secure, signedIn bool
	from, to, text   string
}

func newPostOffice(t *testing.T) *postOffice {
	web := httptest.NewTLSServer(nil) // only its certificate is used
	p := &postOffice{t: t, certs: web.TLS.Certificates, Roots: x509.NewCertPool()}
	p.Roots.AddCert(web.Certificate())
	web.Close()
	var err error
	if p.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	go func() {
		for {
			conn, err := p.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return p
}

func (p *postOffice) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
}

// got returns the mails so far.
func (p *postOffice) got() []receivedMail {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]receivedMail(nil), p.mails...)
}

func (p *postOffice) serve(conn net.Conn) {
	defer func() { conn.Close() }()
	var shut, plain bool
	p.change(func() { shut, plain = p.shut, p.plain })
	if shut {
		fmt.Fprint(conn, "421 closed\r\n")
		return
	}
	fmt.Fprint(conn, "220 here\r\n")
	var m receivedMail
	in := textproto.NewReader(bufio.NewReader(conn))
	for {
		line, err := in.ReadLine()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		answer := "250 ok"
		switch strings.ToUpper(verb) {
		case "EHLO":
			answer = "250-here\r\n250-AUTH PLAIN\r\n250 STARTTLS"
			if plain {
				answer = "250 here"
			}
		case "STARTTLS":
			fmt.Fprint(conn, "220 go\r\n")
			conn = tls.Server(conn, &tls.Config{Certificates: p.certs})
			in, m.secure = textproto.NewReader(bufio.NewReader(conn)), true
			continue
		case "AUTH":
			secret, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(rest, "PLAIN "))
			if answer = "235 welcome"; string(secret) != "\x00post\x00secret" {
				answer = "535 who are you"
			}
			m.signedIn = answer[0] == '2'
		case "MAIL":
			m.from = rest
		case "RCPT":
			m.to = rest
			p.change(func() {
				if p.answer != nil {
					if says := p.answer(rest); says != "" {
						answer = says
					}
				}
			})
		case "DATA":
			fmt.Fprint(conn, "354 go\r\n")
			text, err := in.ReadDotBytes()
			if err != nil {
				return
			}
			m.text = string(text)
			p.change(func() { p.mails = append(p.mails, m) })
		case "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		}
		fmt.Fprint(conn, answer+"\r\n")
	}
}
