package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/models/accounts"
)

// TestOneWayToNameAVisitor: outside package conns no handler reads the address of a connection, which behind a proxy is the
// proxy's. Site.VisitorIP names a visitor, Site.VisitorShare counts one, and conns.Peer is for rights of this machine.
func TestOneWayToNameAVisitor(t *testing.T) {
	handedOn := map[string]string{"mcp.go": "RemoteAddr"} // to this process's own handlers, which ask conns
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Dir(path) == "conns" {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || handedOn[path] == s.Sel.Name {
				return true
			}
			switch s.Sel.Name {
			case "IP", "IPs", "RemoteAddr", "RemoteIP", "IsFromLocal", "HeaderXForwardedFor":
				t.Errorf("%s: %s names a visitor by the connection; use Site.VisitorIP, Site.VisitorShare or conns.Peer", fset.Position(s.Pos()), s.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestBehindAProxyAVisitorIsNotTheProxy: not to the limit of command lines that wait, not on the page that asks for consent, and
// not in the list of sessions.
func TestBehindAProxyAVisitorIsNotTheProxy(t *testing.T) {
	s := startSite(t)
	begin := func(address string) (*client.Login, error) {
		through := client.NewWith(s.url, "", &http.Client{Transport: forwarding(address)})
		return through.BeginLogin(t.Context(), "laptop")
	}
	for i := range 40 {
		if _, err := begin("203.0.113.1"); i < 20 && err != nil || i >= 20 && code(err) != "too_many" {
			t.Fatalf("login %d of one visitor: %v", i, err)
		}
	}
	for i := range 40 { // with IPv6 an address for each
		if _, err := begin("2001:db8::" + strings.Repeat("f", 1+i%4)); i < 20 && err != nil || i >= 20 && code(err) != "too_many" {
			t.Fatalf("login %d of one IPv6 network: %v", i, err)
		}
	}
	if _, err := begin("198.51.100.7"); err != nil {
		t.Fatalf("another visitor: %v", err)
	}
	login, err := begin("198.51.100.8, 192.0.2.9") // the visitor made the first address up
	if err != nil {
		t.Fatal(err)
	}
	ada := s.signedIn("ada", accounts.RoleUser)
	wantText(t, ada.page("/login?code="+login.Code, http.StatusOK), "dl", "192.0.2.9")
}

// forwarding is a proxy on this machine that says for whom a request is.
type forwarding string

func (f forwarding) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", string(f))
	return http.DefaultTransport.RoundTrip(r)
}

// TestBehindAProxyASessionHasTheVisitorsAddress, and an open evaluation counts for the visitor.
func TestBehindAProxyASessionHasTheVisitorsAddress(t *testing.T) {
	issuer := newTestIssuer(t)
	issuer.set(map[string]any{"sub": "1", "name": "Ada"})
	b := startSite(t, withIssuer(issuer)).browser()
	b.Transport = forwarding("203.0.113.5")
	b.get("/auth/oidc?next=/api/v1/me")
	wantText(t, b.page("/me", http.StatusOK), "main", "203.0.113.5")
}
