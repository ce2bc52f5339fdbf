package queue

import (
	"fmt"
	"net/url"
	"strings"
)

const (
	cancelSubject     = "ctl.cancel"
	workSubjectPrefix = "work." // followed by the device
	inboxPrefix       = "_INBOX_"
)

func workSubject(device string) string { return workSubjectPrefix + encodeToken(device) }

// encodeToken encodes s as one part of a subject. Different texts have different tokens, so that no device or worker
// can impersonate another. It encodes bytes, so that every text, even invalid UTF-8, has exactly one token. The server
// compares subjects as texts, and permissions depend on that.
func encodeToken(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}

// decodeToken decodes a token. It returns "" if t is not the result of encodeToken.
func decodeToken(t string) string {
	s, err := url.PathUnescape(strings.ReplaceAll(t, "=", "%"))
	if err != nil || encodeToken(s) != t {
		return ""
	}
	return s
}
