package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// retiredName has words that no identifier may contain, and the folders that may declare some all the same.
type retiredName struct {
	words   string // separated by spaces; "*" at the end matches any ending
	instead string
	allowed string // folders in which the words have an ordinary meaning
}

func retiredNames() []retiredName {
	return []retiredName{
		{"told said heard", "a noun: notice, message, output", ""},
		{"silicon", "device", ""},
		{"sentinel sentinels gauged", "slot benchmark", ""},
		{"ticket tickets", "reservation", ""},
		{"gauge gauges", "slot benchmark", ""},
		{"room rooms", "quota, capacity, free disk, place", ""},
		{"clerk clerks desk", "server, queue", ""},
		// Allowed uses: units of measure, systemd units, and units of a processor in profiles.
		{"unit units", "slot, item", "e2e evaluator/device evaluator/ncu internal/app models views views/charts views/format " +
			"web/pages/boards web/pages/submissions"},
		// Allowed uses: pools of processes, connections, and certificates, and runs with one score together.
		{"pool pools", "samples; set", "evaluator/toolchain evaluator/toolchain/warm internal/app internal/outbox models models/db " +
			"models/modelstest models/work views web/site/runs clients/go"},
		{"leg legs", "turn of a confirmation", ""},
		{"rejudge*", "rerun", ""},
		{"anew", "again", ""},
		{"retain*", "keep", ""},
	}
}

// TestIdentifiersHaveNoRetiredWords covers declarations: of functions, types, fields, parameters, variables, constants.
func TestIdentifiersHaveNoRetiredWords(t *testing.T) {
	root := filepath.Join("..", "..")
	list, err := exec.Command("git", "-C", root, "ls-files", "*.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, retired := token.NewFileSet(), retiredNames()
	for _, name := range strings.Fields(string(list)) {
		if strings.HasSuffix(name, "_templ.go") || strings.Contains(name, "testdata/") {
			continue
		}
		file, err := parser.ParseFile(files, filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Log(err) // removed, but not yet committed
			continue
		}
		for _, id := range declared(file) {
			for _, r := range retired {
				if word := r.in(id.Name); word != "" && !slices.Contains(strings.Fields(r.allowed), path.Dir(name)) {
					t.Errorf("%s:%d: %s has the retired word %q; use %s", name, files.Position(id.Pos()).Line, id.Name, word, r.instead)
				}
			}
		}
	}
}

// in returns the retired word of an identifier, or "".
func (r retiredName) in(name string) string {
	for _, word := range wordsOf(name) {
		for _, bad := range strings.Fields(r.words) {
			if prefix, ok := strings.CutSuffix(bad, "*"); word == bad || ok && strings.HasPrefix(word, prefix) {
				return word
			}
		}
	}
	return ""
}

// wordsOf splits an identifier into lower-case words: "newURLOf2Legs" has new, url, of, 2, and legs.
func wordsOf(name string) (words []string) {
	letters, from := []rune(name), 0
	for i := 1; i <= len(letters); i++ {
		switch {
		case i == len(letters),
			letters[i] == '_',
			unicode.IsUpper(letters[i]) && !unicode.IsUpper(letters[i-1]),
			unicode.IsDigit(letters[i]) != unicode.IsDigit(letters[i-1]),
			// the last capital begins a word
			unicode.IsLower(letters[i]) && unicode.IsUpper(letters[i-1]) && i-1 > from:
			end := i
			if i < len(letters) && unicode.IsLower(letters[i]) && unicode.IsUpper(letters[i-1]) {
				end = i - 1
			}
			words = append(words, strings.ToLower(strings.Trim(string(letters[from:end]), "_")))
			from = end
		}
	}
	return words
}

// declared lists the identifiers that a file declares.
func declared(file *ast.File) (list []*ast.Ident) {
	add := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if id, ok := e.(*ast.Ident); ok {
				list = append(list, id)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			list = append(list, n.Name)
		case *ast.TypeSpec:
			list = append(list, n.Name)
		case *ast.ValueSpec:
			list = append(list, n.Names...)
		case *ast.Field:
			list = append(list, n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key, n.Value)
			}
		}
		return true
	})
	return list
}

func TestWordsOfAnIdentifier(t *testing.T) {
	for name, want := range map[string]string{
		"newURLOf2Legs": "new url of 2 legs", "Unit": "unit", "unit_ns": "unit ns", "HTTPServer": "http server", "ID": "id",
		"aB": "a b", "TestALegWaits": "test a leg waits",
	} {
		if got := strings.Join(wordsOf(name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
