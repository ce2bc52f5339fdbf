package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"warpboard/web"
)

func TestTheLogShowsHowToSignInOrThatNoOneCan(t *testing.T) {
	for _, test := range []struct {
		link      string
		providers []web.ProviderConfig
		want      string
	}{
		{"http://127.0.0.1:3000/auth/developer?code=A", nil, "open this link to sign in as an admin"},
		{"", nil, "no one can sign in in a browser"},
		{"", []web.ProviderConfig{{Name: "github"}}, ""},
	} {
		var log bytes.Buffer
		logSignIn(test.link, test.providers, slog.New(slog.NewTextHandler(&log, nil)))
		if got := log.String(); !strings.Contains(got, test.want) || (test.want == "") != (got == "") {
			t.Errorf("link %q and %d providers: the log has %q, want %q", test.link, len(test.providers), got,
				test.want)
		}
	}
}
