package app

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// forbidden lists the import arrows that must not exist, each with its reason. From and to are
// path prefixes inside the module, or prefixes of third-party import paths.
var forbidden = []struct {
	from   string   // package directories below this one …
	except []string // … but not below these …
	to     []string // … must not import these
	reason string
}{
	{"models", nil, []string{"warpboard/web", "warpboard/views", "warpboard/evaluator/queue", "warpboard/evaluator/dispatch", "warpboard/evaluator/sandbox"}, "the domain knows no page, queue or process"},
	{"tasks", nil, []string{"warpboard/app", "warpboard/web", "warpboard/views", "warpboard/models", "warpboard/evaluator", "warpboard/migrations", "warpboard/static"}, "the task format is a leaf"},
	{"tasks/pyyaml", nil, []string{"warpboard/"}, "a leaf below the task format"},
	{"views/format", nil, []string{"warpboard/"}, "the formatter is a leaf"},
	{"views/diff", nil, []string{"warpboard/"}, "the differ is a leaf"},
	{"views/charts", nil, []string{"warpboard/models", "warpboard/tasks"}, "charts draw results, and know neither tasks nor people"},
	{"static", nil, []string{"warpboard/"}, "static files are a leaf"},
	{"migrations", nil, []string{"warpboard/"}, "migrations are a leaf"},
	{"evaluator", []string{"evaluator/dispatch"}, []string{"warpboard/models", "warpboard/migrations", "gorm.io"}, "a worker has no database"},
	{"evaluator", nil, []string{"warpboard/web", "warpboard/views", "warpboard/static"}, "an evaluator knows no pages"},
	{"views", nil, []string{"warpboard/web", "warpboard/evaluator/queue", "warpboard/evaluator/dispatch", "warpboard/evaluator/sandbox"}, "views only show"},
	{"web", nil, []string{"warpboard/evaluator/queue", "warpboard/evaluator/sandbox", "warpboard/evaluator/toolchain"}, "the site reaches workers through dispatch alone"},
	{".", []string{"web"}, []string{"github.com/gofiber"}, "fiber stays in web"},
	{".", []string{"models"}, []string{"gorm.io"}, "gorm stays in models"},
	{".", []string{"evaluator/queue"}, []string{"github.com/nats-io"}, "NATS stays in evaluator/queue"},
	{".", []string{"evaluator/device"}, []string{"github.com/NVIDIA"}, "NVML stays in evaluator/device"},
}

func TestImportsGoOneWay(t *testing.T) {
	checked := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || (strings.HasPrefix(d.Name(), ".") && path != "..")) {
			return filepath.SkipDir
		}
		path = filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", path), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			checkArrow(t, path, imported)
			checked++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked == 0 {
		t.Fatal("no import was checked")
	}
}

func checkArrow(t *testing.T, path, imported string) {
	t.Helper()
	for _, rule := range forbidden {
		if !below(path, rule.from) || anyBelow(path, rule.except) {
			continue
		}
		for _, to := range rule.to {
			if strings.HasPrefix(imported, to) {
				t.Errorf("%s imports %s: %s", path, imported, rule.reason)
			}
		}
	}
}

func below(path, dir string) bool {
	return dir == "." || path == dir || strings.HasPrefix(path, dir+"/")
}

func anyBelow(path string, dirs []string) bool {
	for _, d := range dirs {
		if below(path, d) {
			return true
		}
	}
	return false
}
