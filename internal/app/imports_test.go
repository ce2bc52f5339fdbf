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

// forbidden lists the imports that must not exist, each with a reason. Paths are prefixes of packages in this module,
// or of third-party imports.
var forbidden = []struct {
	from   string   // importing packages: those below this folder
	except []string // folders whose packages are excepted
	to     []string // packages that must not be imported
	reason string
}{
	{"models", nil, []string{"warpboard/internal/app", "warpboard/web", "warpboard/views", "warpboard/evaluator/queue",
		"warpboard/evaluator/dispatch", "warpboard/evaluator/sandbox"}, "the domain knows no page, queue or process"},
	{"models/db", nil, []string{"warpboard/models", "warpboard/evaluator", "warpboard/tasks"},
		"the database below the rules knows none of them"},
	{"models/accounts", nil, []string{"warpboard/models/fleet", "warpboard/models/catalog", "warpboard/models/boards",
		"warpboard/evaluator", "warpboard/tasks"}, "people know nothing of what they do here"},
	{"models/fleet", nil, []string{"warpboard/models/catalog", "warpboard/models/boards", "warpboard/tasks"},
		"workers know no tasks"},
	{"models/catalog", nil, []string{"warpboard/models/work", "warpboard/models/boards", "warpboard/evaluator"},
		"tasks are not work"},
	{"models/boards", nil, []string{"warpboard/models/fleet", "warpboard/evaluator"}, "a board ranks what has ended"},
	{"models/boards", nil, []string{"warpboard/models/samples"}, "a board ranks what counts, however it was made"},
	{"models/work", nil, []string{"warpboard/models/samples", "warpboard/models/webhooks",
		"warpboard/models/review", "warpboard/models/submissions"},
		"work does not know what follows from its end: see work.Rules"},
	{"models/submissions", nil, []string{"warpboard/models/webhooks",
		"warpboard/models/boards"}, "who submits waits for a run, not for its place"},
	{"models/review", nil, []string{"warpboard/models/work", "warpboard/models/submissions", "warpboard/models/boards",
		"warpboard/models/accounts"}, "a flag knows the number of its run, and no more"},
	{"models/comments", nil, []string{"warpboard/models/boards", "warpboard/models/work", "warpboard/models/webhooks",
		"warpboard/models/inbox"}, "comments are about tasks and submissions, and tell no one"},
	{"models/inbox", nil, []string{"warpboard/models/boards", "warpboard/models/work", "warpboard/models/webhooks",
		"warpboard/models/comments", "warpboard/evaluator"}, "a notice names rows, and knows no rules"},
	{"models/samples", nil, []string{"warpboard/models/accounts", "warpboard/models/fleet", "warpboard/models/catalog"},
		"samples have scores and the numbers of people, no names"},
	{"models/webhooks", nil, []string{"warpboard/models/fleet", "warpboard/models/catalog", "warpboard/models/boards",
		"warpboard/evaluator", "warpboard/tasks"}, "webhooks are told of what happens, and know none of it"},
	{"internal/outbox", nil, []string{"warpboard/web", "warpboard/views", "warpboard/evaluator"},
		"what sends webhooks and mail knows no page and no worker"},
	{"internal/app/verify", nil, []string{"warpboard/web/site", "warpboard/web/pages", "warpboard/web/api",
		"warpboard/evaluator/queue", "warpboard/evaluator/dispatch"}, "who checks a result needs no site of their own"},
	{"internal/app/cli", nil, []string{"warpboard/evaluator/queue", "warpboard/evaluator/dispatch",
		"warpboard/internal/app/verify"},
		"a command line that talks to a site evaluates nothing"},
	{"internal/app/cli/console", nil, []string{"warpboard/internal/app"}, "what every command has knows no command"},
	{"tasks", nil, []string{"warpboard/internal/app", "warpboard/web", "warpboard/views", "warpboard/models",
		"warpboard/evaluator", "warpboard/migrations", "warpboard/static"}, "the task format is a leaf"},
	{"tasks/importing", nil, []string{"warpboard/tasks/changes"}, "a task that is made of a problem is read like any other"},
	{"tasks/filetree", nil, []string{"warpboard/tasks/pyyaml"}, "files are read before anyone knows what they say"},
	{"tasks/parse", nil, []string{"warpboard/"}, "a leaf below the task format"},
	{"tasks/pyyaml", nil, []string{"warpboard/"}, "a leaf below the task format"},
	{"internal/cache", nil, []string{"warpboard/"}, "a cache knows nothing of what it keeps"},
	{"views/format", nil, []string{"warpboard/"}, "the formatter is a leaf"},
	{"views/syntax", nil, []string{"warpboard/"}, "how languages are written is a leaf"},
	{"views/charts", nil, []string{"warpboard/models", "warpboard/tasks"},
		"charts draw results, and know neither tasks nor people"},
	{"internal/requirement", nil, []string{"warpboard/"}, "versions of packages are a leaf"},
	{"internal/gpuname", nil, []string{"warpboard/"}, "names of silicon are a leaf"},
	{"static", nil, []string{"warpboard/"}, "static files are a leaf"},
	{"clients/python", nil, []string{"warpboard/"}, "the Python client's wheel is a leaf"},
	{"migrations", nil, []string{"warpboard/"}, "migrations are a leaf"},
	{"evaluator", []string{"evaluator/dispatch"}, []string{"warpboard/models", "warpboard/migrations", "gorm.io"},
		"a worker has no database"},
	{"evaluator", nil, []string{"warpboard/web", "warpboard/views", "warpboard/static"}, "an evaluator knows no pages"},
	{"evaluator/taskrun", nil, []string{"warpboard/evaluator/kernelrun", "warpboard/evaluator/queue",
		"warpboard/evaluator/dispatch"}, "a run knows no evaluation and no queue"},
	{"evaluator/kernelrun", nil, []string{"warpboard/evaluator/taskrun", "warpboard/evaluator/queue",
		"warpboard/evaluator/dispatch"}, "an evaluation knows no run and no queue"},
	{"evaluator/kernelrun", []string{"evaluator/kernelrun/evaluation"}, []string{"warpboard/evaluator/"},
		"what an evaluation is, is a leaf; running it is kernelrun/evaluation's"},
	{"evaluator/attempt", nil, aboveAttempt, "an attempt does not know of what it is"},
	{"evaluator/slots", nil, append([]string{"warpboard/evaluator/attempt", "warpboard/evaluator/profiling",
		"warpboard/evaluator/judge"}, aboveAttempt...), "slots know no work"},
	{"evaluator/profiling", nil, aboveTools, "tools know no slots"},
	{"evaluator/sanitizing", nil, append([]string{"warpboard/evaluator/profiling", "warpboard/evaluator/ncu"},
		aboveTools...), "tools know no slots"},
	{"evaluator/toolchain", nil, append([]string{"warpboard/evaluator/profiling", "warpboard/evaluator/kernelrun"},
		aboveTools...), "tools know no slots"},
	{"evaluator/judge", nil, append([]string{"warpboard/evaluator/toolchain", "warpboard/evaluator/profiling",
		"warpboard/evaluator/kernelrun"}, aboveTools...), "the judge knows no tools"},
	{"evaluator/harness", nil, append([]string{"warpboard/evaluator/toolchain", "warpboard/evaluator/profiling",
		"warpboard/evaluator/kernelrun"}, aboveTools...), "the harness knows no tools"},
	{"evaluator/versus", nil, append([]string{"warpboard/evaluator/toolchain", "warpboard/evaluator/profiling",
		"warpboard/evaluator/kernelrun", "warpboard/evaluator/judge", "warpboard/evaluator/sandbox"}, aboveTools...),
		"what times show of each other is arithmetic, which views draw"},
	{"evaluator/sandbox", nil, append([]string{"warpboard/evaluator/toolchain", "warpboard/evaluator/profiling",
		"warpboard/evaluator/kernelrun", "warpboard/evaluator/harness", "warpboard/evaluator/judge"}, aboveTools...),
		"the sandbox knows no programs"},
	{"evaluator/job", nil, []string{"warpboard/evaluator/"}, "messages are a leaf"},
	{"evaluator/ncu", []string{"evaluator/ncu/nsight"}, []string{"warpboard/evaluator/"},
		"the reader of reports is a leaf"},
	{"evaluator/ncu/nsight", nil, append([]string{"warpboard/evaluator/toolchain", "warpboard/evaluator/profiling",
		"warpboard/evaluator/kernelrun", "warpboard/evaluator/judge", "warpboard/evaluator/sandbox"}, aboveTools...),
		"who knows ncu's command lines runs nothing"},
	{"views", nil, []string{"warpboard/web", "warpboard/evaluator/queue", "warpboard/evaluator/dispatch",
		"warpboard/evaluator/sandbox", "warpboard/evaluator/ncu/nsight"}, "views only show"},
	{"web", nil, []string{"warpboard/evaluator/queue", "warpboard/evaluator/sandbox", "warpboard/evaluator/toolchain",
		"warpboard/evaluator/ncu/nsight"}, "the site reaches workers through dispatch alone"},
	{"web/pages", nil, []string{"warpboard/web/api", "warpboard/web/evalapi", "warpboard/web/metrics",
		"warpboard/web/mcp", "warpboard/web/popcorn"}, "packages of handlers do not know each other"},
	{"web/api", nil, []string{"warpboard/web/pages", "warpboard/web/evalapi", "warpboard/web/metrics",
		"warpboard/web/mcp", "warpboard/web/popcorn"}, "packages of handlers do not know each other"},
	{"web/evalapi", nil, []string{"warpboard/web/pages", "warpboard/web/api", "warpboard/web/metrics",
		"warpboard/web/mcp", "warpboard/web/popcorn"}, "packages of handlers do not know each other"},
	{"web/metrics", nil, []string{"warpboard/web/pages", "warpboard/web/api", "warpboard/web/evalapi",
		"warpboard/web/mcp", "warpboard/web/popcorn"}, "packages of handlers do not know each other"},
	{"web/mcp", nil, []string{"warpboard/web/pages", "warpboard/web/api", "warpboard/web/evalapi",
		"warpboard/web/metrics", "warpboard/web/popcorn"}, "packages of handlers do not know each other"},
	{"web/popcorn", nil, []string{"warpboard/web/pages", "warpboard/web/api", "warpboard/web/evalapi",
		"warpboard/web/metrics", "warpboard/web/mcp"}, "packages of handlers do not know each other"},
	{"web/pages", nil, []string{"warpboard/web/pages"}, "packages of pages do not know each other"},
	{"web/signin", nil, []string{"warpboard/web/pages", "warpboard/web/api", "warpboard/web/evalapi",
		"warpboard/web/metrics", "warpboard/web/mcp", "warpboard/web/popcorn", "warpboard/web/site/"},
		"signing in is below the handlers"},
	{"web/site", nil, []string{"warpboard/web/pages", "warpboard/web/api", "warpboard/web/evalapi",
		"warpboard/web/metrics", "warpboard/web/mcp", "warpboard/web/popcorn", "warpboard/web/signin"},
		"what handlers share knows no handler"},
	{"web/site", []string{"web/site/runs", "web/site/evaluations"}, []string{"warpboard/web/site/"},
		"runs and evaluations stand on the site"},
	{"web/site/runs", nil, []string{"warpboard/web/site/evaluations"}, "runs and evaluations do not know each other"},
	{"web/site/evaluations", nil, []string{"warpboard/web/site/runs"}, "runs and evaluations do not know each other"},
	{"web/conns", nil, []string{"warpboard/"}, "connections are a leaf"},
	{"clients/go", nil, []string{"warpboard/web", "warpboard/models", "warpboard/views"},
		"the client is a program of its own"},
	{".", []string{"web"}, []string{"warpboard/web/site", "warpboard/web/signin",
		"warpboard/web/conns", "warpboard/web/pages", "warpboard/web/api", "warpboard/web/evalapi",
		"warpboard/web/popcorn", "warpboard/web/metrics"}, "only the web server has handlers"},
	{".", []string{"web"}, []string{"github.com/gofiber"}, "fiber stays in web"},
	{".", []string{"models"}, []string{"gorm.io"}, "gorm stays in models"},
	{".", []string{"models/files"}, []string{"github.com/minio"}, "S3 stays in models/files"},
	{".", []string{"evaluator/queue"}, []string{"github.com/nats-io"}, "NATS stays in evaluator/queue"},
	{".", []string{"evaluator/device"}, []string{"github.com/NVIDIA"}, "NVML stays in evaluator/device"},
}

// Packages that may import package attempt, and packages that may import the tools of attempts; not the other way.
var (
	aboveAttempt = []string{"warpboard/evaluator/taskrun", "warpboard/evaluator/kernelrun", "warpboard/evaluator/queue",
		"warpboard/evaluator/dispatch"}
	aboveTools = []string{"warpboard/evaluator/slots", "warpboard/evaluator/attempt", "warpboard/evaluator/taskrun",
		"warpboard/evaluator/kernelrun/evaluation", "warpboard/evaluator/queue", "warpboard/evaluator/dispatch"}
)

func TestImportsGoOneWay(t *testing.T) {
	checked := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" ||
			(strings.HasPrefix(d.Name(), ".") && path != "../..")) {
			return filepath.SkipDir
		}
		path = filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", path), nil, parser.ImportsOnly)
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
