package outbox

import (
	"bytes"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"time"
	"unicode"

	"warpboard/models/inbox"
)

// mailMessage returns a mail as text for the server. off is the address for unsubscribing without signing in; "" for
// mails without that option.
func mailMessage(m inbox.Mail, from mail.Address, host, off string, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	header := func(name, value string) { fmt.Fprintf(&b, "%s: %s\r\n", name, value) }
	to, err := inbox.ParseHeaderAddress(m.Address)
	if err != nil {
		return nil, err
	}
	header("From", from.String())
	header("To", "<"+to+">")
	header("Subject", mime.QEncoding.Encode("utf-8", toOneLine(m.Subject)))
	header("Date", at.UTC().Format(time.RFC1123Z))
	header("Message-ID", fmt.Sprintf("<notice-%d-%d@%s>", m.ID, m.CreatedAt.UnixMicro(), host))
	header("Auto-Submitted", "auto-generated")
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "quoted-printable")
	text := m.Body
	if off != "" {
		header("List-Unsubscribe", "<"+off+">")
		header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
		text += "\n-- \nTurn off these e-mails: " + off + "\n"
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		return nil, fmt.Errorf("writing mail %d: %w", m.ID, err)
	}
	return b.Bytes(), w.Close()
}

// toOneLine removes line breaks and other control characters, and limits the length, for a header.
func toOneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > 150 {
		text = string(runes[:149]) + "…"
	}
	return text
}
