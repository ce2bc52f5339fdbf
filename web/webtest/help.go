package webtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"warpboard/clients/go"
	"warpboard/e2e/costtest"
	"warpboard/internal/statement"
	"warpboard/models/accounts"
	"warpboard/web"
)

// Code returns the error code of an API client's error, or "" if err is nil.
func Code(err error) string {
	var p *client.Problem
	if errors.As(err, &p) {
		return p.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// Second returns only the error of a call that returns two values: Second(f()).
func Second[T any](_ T, err error) error { return err }

// BoardOf returns the main part of a page, such as a board, as a person sees it, or a visitor if user is zero. It omits
// texts that differ with each response.
func BoardOf(s *Site, user accounts.User, path string) string {
	b := s.Browser()
	if user.ID != 0 {
		b = (&Scene{Site: s}).BrowserOf(user)
	}
	resp := b.Get(path)
	WantStatus(s.T, resp, http.StatusOK)
	_, text, found := strings.Cut(Body(s.T, resp), "<main")
	text, _, ended := strings.Cut(text, "</main>")
	if !found || !ended {
		s.T.Errorf("%s has no main part", path)
	}
	text = strings.ReplaceAll(text, b.CSRF(), "")
	if _, after, has := strings.Cut(text, ` nonce="`); has {
		nonce, _, _ := strings.Cut(after, `"`)
		text = strings.ReplaceAll(text, nonce, "")
	}
	return text
}

// Costs checks the number of SQL statements and the memory that a page needs (costtest.Check). path returns another
// path for each request, so that the page is not cached.
func (s *Scene) Costs(t *testing.T, what string, path func(time int) string) {
	t.Helper()
	b, times := s.BrowserOf(s.Ada), 0
	costtest.Check(t, what, func() {
		times++
		resp := b.Get(path(times))
		defer resp.Body.Close()
		if n, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 || n == 0 {
			t.Errorf("%s: %s, %d bytes, %v", what, resp.Status, n, err)
		}
	})
}

// Keys returns a JSON object of about size bytes that consists of many keys.
func Keys(size int) string {
	var text strings.Builder
	for i := 0; text.Len() < size-10; i++ {
		fmt.Fprintf(&text, `"%x":1,`, i)
	}
	return "{" + text.String() + `"":1}`
}

// DeviceNames returns n different words that could be device names, separated by spaces.
func DeviceNames(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%x ", i)
	}
	return text.String()
}

// LabPath is the path of a site that is not at the root of its host.
const LabPath = "/warpboard"

// Below makes the site's public URL end with LabPath.
func Below(c *web.Config) { c.BaseURL = "http://" + c.Addr + LabPath }

// Ask sends a request with a token, or without one if token is "".
func (s *Site) Ask(method, path, token, body string, headers ...string) *http.Response {
	s.T.Helper()
	req := httptest.NewRequest(method, s.URL+path, strings.NewReader(body))
	req.RequestURI = ""
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Hostile is a text that would run scripts or change the page if it were not escaped, and that contains characters
// which reverse the direction of text.
const Hostile = `<img src=x onerror=alert(1)><script>alert(2)</script>"' onload=alert(3) x='<hx-partial hx-target="body">gone</hx-partial></pre></textarea></title>` +
	"pass \u202Edeliaf\u202C \u2066"

// CheckDirection fails the test if the page contains characters that change the direction of text. If shown is true,
// visible marks for the characters in Hostile must replace them.
func CheckDirection(t *testing.T, doc *goquery.Document, shown bool) {
	t.Helper()
	doc.Find("textarea").Remove() // a text field repeats the input unchanged
	text := doc.Text()
	if strings.ContainsAny(text, "\u202E\u202C\u2066") {
		t.Error("stored text turns the direction of the page's")
	}
	if shown && !strings.Contains(text, "pass [U+202E]deliaf[U+202C] [U+2066]") {
		t.Errorf("the controls of direction have no marks: %.300s", text)
	}
}

// JSONText encodes a value as JSON.
func JSONText(value any) string {
	text, _ := json.Marshal(value) // cannot fail: the value was decoded from JSON
	return string(text)
}

// Signs configures a site with its own signing key.
func Signs(t *testing.T) func(*web.Config) {
	return func(c *web.Config) {
		key, err := statement.ReadOrCreateKey(filepath.Join(t.TempDir(), "signing.key"))
		if err != nil {
			t.Fatal(err)
		}
		keys, err := c.Store.RecordSigningKey(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		c.Signing = web.Signing{Key: key, Keys: keys}
	}
}

// Bytes requests a page, checks the status, and returns the body.
func (b *Browser) Bytes(t *testing.T, path string, status int) []byte {
	t.Helper()
	resp := b.Get(path)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		t.Fatalf("%s: %s, %v: %s", path, resp.Status, err, text)
	}
	return text
}

// Raw sends bytes over a new connection and returns all that the server sends until it closes the connection.
func (s *Site) Raw(t *testing.T, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", s.Cfg.Settings.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(60 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("%d bytes, then %v: %.200s", len(answer), err, answer)
	}
	return string(answer)
}
