package web_test

import (
	"io"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/models/accounts"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

// TestNoPostedTextCostsMoreThanARequestMay posts large and unusual forms, also to pages that show the typed text again.
func TestNoPostedTextCostsMoreThanARequestMay(t *testing.T) {
	const size = 4_000_000
	s := webtest.NewScene(t)
	b := s.SignedIn("creator", accounts.RoleCreator)
	token := url.Values{site.CSRFField: {b.CSRF()}}.Encode()
	part := func(parameters string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"a\"" + parameters + "\r\n\r\n1\r\n"
	}
	var distinct strings.Builder
	for _, name := range strings.Fields(webtest.DeviceNames(900_000)) {
		distinct.WriteString("; a" + name + "=b")
	}
	random, letters := make([]byte, site.MaxFormText-1000), rand.NewChaCha8([32]byte{})
	_, _ = letters.Read(random)
	for i, b := range random {
		random[i] = "<>()*.-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"[b%64]
	}
	const task, kernel = "&name=x&path=task.yml&text=", "&kernel_type=x&kernel="
	for name, test := range map[string]struct {
		path, kind, body string
		status           int
	}{
		"a kernel that comes back": {"/playground", "", token + "&do=row" + kernel + strings.Repeat("<", size), 413},
		"a kernel that is refused": {"/playground", "", token + "&do=run" + kernel + strings.Repeat("<\n", size/2),
			413},
		"the largest kernel": {"/playground", "",
			token + "&do=run" + kernel + strings.Repeat("<\n", site.MaxFormText/2-1000), 422},
		"quotes": {"/playground", "",
			token + "&do=row" + kernel + strings.Repeat(`"`, site.MaxFormText-1000), 200},
		"random text":            {"/playground", "", token + "&do=row" + kernel + string(random), 200},
		"a task that comes back": {"/tasks/new/files", "", token + task + strings.Repeat("<", size), 413},
		"the largest task": {"/tasks/new/files", "", token + task + strings.Repeat("<", site.MaxFormText-1000),
			422},
		"random text of a task": {"/tasks/new/files", "", token + task + string(random), 422},
		"files of a task": {"/tasks/new/files", "",
			token + "&name=x" + strings.Repeat("&path=a&text=x", 2000), 422},
		"a task that is checked": {"/tasks/check", "", token + task + strings.Repeat("a,", size/2), 413},
		"YAML of keys": {"/tasks/check", "", token + task + "{" + strings.Repeat("a,", 120_000) + "a}",
			200},
		"parameters of a part": {"/tasks/new", "multipart/form-data; boundary=x",
			part(strings.Repeat("; a=b", 90_000)), 422},
		"many parameters of a part": {"/tasks/new", "multipart/form-data; boundary=x", part(distinct.String()), 422},
		"parameters of many parts": {"/tasks/new", "multipart/form-data; boundary=x",
			strings.Repeat(part(strings.Repeat(";a=b", 1000)), 1000), 422},
		"parts": {"/tasks/new", "multipart/form-data; boundary=x", strings.Repeat(part(""), 80_000),
			422},
	} {
		costtest.Check(t, name, func() {
			kind := test.kind
			if kind == "" {
				kind = "application/x-www-form-urlencoded"
			}
			resp := b.Send("POST", test.path, strings.NewReader(test.body), "Content-Type", kind, site.CSRFHeader,
				b.CSRF())
			n, _ := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != test.status || n > 6*site.MaxFormText {
				t.Errorf("%s: %s, %d bytes", name, resp.Status, n)
			}
		})
	}
}
