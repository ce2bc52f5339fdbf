package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
	{`\bfor ?ever\b`, `"permanently", "indefinitely"`},
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
	{`\b(?:an|the) own\b`, `"its own", "a separate"`},
	{`\btells whether\b`, `"reports whether"`},
}

// foreign are files whose texts are an interface of others and stay as they are.
var foreign = []string{"tasks/examples", "node_modules", "static"}

// retiredExpressions are those of retired, each compiled once, and the last has them all: it alone is asked of most texts.
var retiredExpressions = sync.OnceValues(func() (each []*regexp.Regexp, all *regexp.Regexp) {
	var phrases []string
	for _, r := range retired {
		phrases = append(phrases, r.phrase)
		each = append(each, regexp.MustCompile(r.phrase))
	}
	return each, regexp.MustCompile(strings.Join(phrases, "|"))
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
		"Matched reports whether the line matches.": false,
	} {
		if got := len(retiredIn(text)) > 0; got != found {
			t.Errorf("%q: found is %v", text, got)
		}
	}
}

func retiredIn(text string) (instead []string) {
	each, all := retiredExpressions()
	text = strings.ToLower(text)
	if !all.MatchString(text) {
		return nil
	}
	for i, r := range retired {
		if at := each[i].FindStringIndex(text); at != nil && !strings.HasSuffix(text[:at[0]], "there ") {
			instead = append(instead, r.instead)
		}
	}
	return instead
}

func textFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && path != ".." || d.Name() == "testdata" || d.Name() == "tests" || anyBelow(name, foreign) {
				return filepath.SkipDir
			}
			return nil
		}
		skipped := false
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

// textsOf gives the strings and comments of a Go file, and the lines of every other.
func textsOf(t *testing.T, file string) (texts []shownText) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", file))
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
		if strings.Contains(group.Text(), "tells whether") {
			texts = append(texts, shownText{set.Position(group.Pos()).Line, "tells whether"})
		}
	}
	return texts
}
