package web_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestVisitorsAreIdentifiedInOnePlace checks that only package conns reads the address of a connection, because behind
// a proxy that is the proxy's address. Site.VisitorIP returns a visitor's address, Site.SenderNetwork the address for
// limits, and conns.PeerAddress the connection's, for access rights of this machine.
func TestVisitorsAreIdentifiedInOnePlace(t *testing.T) {
	// passes the address to this process's own handlers, which use package conns
	handedOn := map[string]string{"mcp.go": "RemoteAddr"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			filepath.Dir(path) == "conns" {
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
