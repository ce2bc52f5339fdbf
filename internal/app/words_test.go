package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// retired lists phrases that nobody should meet on a page, in an error or in a flag's help, each with what to
// write instead; in lower case, as they are looked for. docs/architecture.md has the words to use.
var retired = []struct{ phrase, instead string }{
	{`\bis no (?:number|name|setting|such|valid|file|folder|string|int|float|list|tensor|uuid|json|url|path|time|size|e-mail|address|key|id|version|way)\b`, `"is not a …"`},
	{`\bby (?:itself|themselves)\b`, `"automatically", "alone"`},
	{`\bmend(?:s|ed|ing)?\b`, `"fix"`},
	{`\bour (?:fault|mistake)\b`, `"an infrastructure error"`},
	{`\bolder form\b`, `"legacy format"`},
	{`\bforever\b`, `"permanently", "indefinitely"`},
	{`\bfor ever\b`, `"permanently", "indefinitely"`},
	{`\bbeforehand\b`, `"in advance"`},
	{`\bwhereabouts\b`, `"progress"`},
	{`\bnobody answers\b`, `"no answer from …"`},
	{`\bhad nothing to say\b`, `"no output", "no findings"`},
	{`\btoo much at once\b`, `"too many requests"`},
	{`\bcomes free\b`, `"is released"`},
	{`\bno such way\b`, `"unknown …"`},
	{`\bno live credential\b`, `"no valid credential"`},
	{`\bsomething follows\b`, `"unexpected data after …"`},
	{`\bis too much\b`, `"only one … is allowed"`},
	{`\bwill not do\b`, `"is not allowed"`},
	{`\ban own\b`, `"its own", "a separate"`},
	{`\bthe own\b`, `"its own", "a separate"`},
	{`\bjudge(?:s|d)? anew\b`, `"rejudge"`},
	{`\bcounts for no board\b`, `"is not on any board"`},
	{`\bagainst no limit\b`, `"does not count against any limit"`},
	{`\btells whether\b`, `"reports whether"`},
	{`\bnobody\b`, `"no one", or who it is`},
	{`\bsomebody\b`, `"someone", or who it is`},
	{`\beverybody\b`, `"everyone", or who they are`},
	{`\bwhoever\b`, `who it is`},
	{`\banew\b`, `"again", "newly"`},
	{`\bmeanwhile\b`, `"while", "until then"`},
	{`\bat the least\b`, `"at least"`},
	{`\bat the most\b`, `"at most"`},
}

// inComments are those of the retired phrases that comments may not use either.
var inComments = []string{"tells whether", "nobody", "somebody", "everybody", "whoever", "anew", "meanwhile", "beforehand", "at the least", "at the most"}

// foreign are files with texts that other programs match or that are stored, or with words of the system, and the style sheet,
// which lists words to avoid.
var foreign = []string{"tasks/examples", "node_modules", "static", "docs/style.md",
	"internal/statement/score.go", "evaluator/kernelrun/evaluation/program/stages.py", "models/modelstest/postgres.go"}

// expression finds a phrase. Only texts with its first words are asked, which most have not: with the race detector an
// expression takes long to say so.
type expression struct {
	*regexp.Regexp
	first string
}

// retiredExpressions are those of retired, each compiled once.
var retiredExpressions = sync.OnceValue(func() (each []expression) {
	for _, r := range retired {
		first, _ := regexp.MustCompile(strings.TrimPrefix(r.phrase, `\b`)).LiteralPrefix()
		each = append(each, expression{regexp.MustCompile(r.phrase), first})
	}
	return each
})

func TestTextsUseTheFieldsWords(t *testing.T) {
	texts := 0
	for _, file := range textFiles(t) {
		for _, text := range textsOf(t, file) {
			texts++
			for _, phrase := range retiredIn(text.text) {
				t.Errorf("%s:%d: %q: write %s", file, text.line, strings.TrimSpace(text.text), phrase)
			}
		}
	}
	if texts < 1000 {
		t.Errorf("only %d texts were read", texts)
	}
}

func TestRetiredPhrasesAreFound(t *testing.T) {
	for text, found := range map[string]bool{
		"its author has to mend it":                 true,
		`"x" is no number of a version.`:            true,
		"This was our fault":                        true,
		"the run is retried by itself":              true,
		"There is no file of that name":             false,
		"the recommended setting":                   false,
		"The run is retried automatically":          false,
		"nobody has it, and it is made anew":        true,
		"Matched reports whether the line matches.": false,
	} {
		if got := len(retiredIn(text)) > 0; got != found {
			t.Errorf("%q: found is %v", text, got)
		}
	}
}

func retiredIn(text string) (instead []string) {
	text = strings.ToLower(text)
	for i, e := range retiredExpressions() {
		if !strings.Contains(text, e.first) {
			continue
		}
		if at := e.FindStringIndex(text); at != nil && !strings.HasSuffix(text[:at[0]], "there ") {
			instead = append(instead, retired[i].instead)
		}
	}
	return instead
}

func textFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && path != "../.." || d.Name() == "testdata" || d.Name() == "tests" || anyBelow(name, foreign) {
				return filepath.SkipDir
			}
			return nil
		}
		skipped := slices.Contains(foreign, name)
		switch filepath.Ext(name) {
		case ".go":
			skipped = skipped || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_templ.go")
		case ".templ", ".md", ".py":
		default:
			skipped = true
		}
		if !skipped {
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

type shownText struct {
	line int
	text string
}

// textsOf gives the strings of a Go file and what its comments have of inComments, and the lines of every other.
func textsOf(t *testing.T, file string) (texts []shownText) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(file, ".go") {
		for i, line := range strings.Split(string(content), "\n") {
			texts = append(texts, shownText{i + 1, line})
		}
		return texts
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, content, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, _ := strconv.Unquote(literal.Value)
			texts = append(texts, shownText{set.Position(literal.Pos()).Line, text})
		}
		return true
	})
	for _, group := range tree.Comments {
		text := " " + strings.Join(strings.Fields(strings.ToLower(group.Text())), " ")
		for _, phrase := range inComments {
			if strings.Contains(text, " "+phrase) {
				texts = append(texts, shownText{set.Position(group.Pos()).Line, " " + phrase + " "})
			}
		}
	}
	return texts
}
