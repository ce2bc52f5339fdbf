package app

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"warpboard/docs"
)

var markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinksOfDocumentsExist holds the links of the documents to the code: the file is there, and declares what
// the link names behind #: a heading of a document, or a function, type, variable, template or Type.Method.
func TestLinksOfDocumentsExist(t *testing.T) {
	checked := 0
	for _, document := range documents(t) {
		content, err := os.ReadFile(filepath.Join("..", "..", document))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range markdownLink.FindAllStringSubmatch(string(content), -1) {
			target, name, _ := strings.Cut(link[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			at := document
			if target != "" {
				at = path.Join(path.Dir(document), target)
			}
			checked++
			if why := missing(at, name); why != "" {
				t.Errorf("%s: %s: %s", document, link[1], why)
			}
		}
	}
	if checked < 150 {
		t.Errorf("only %d links were checked", checked)
	}
}

// documents are the Markdown files of the repository's top and of docs/.
func documents(t *testing.T) (list []string) {
	t.Helper()
	for _, folder := range []string{"", "docs"} {
		found, err := filepath.Glob(filepath.Join("..", "..", folder, "*.md"))
		if err != nil || len(found) == 0 {
			t.Fatal(folder, err)
		}
		for _, file := range found {
			list = append(list, path.Join(folder, filepath.Base(file)))
		}
	}
	return list
}

// TestReadmeIsShort holds README to what a reader finishes in a minute.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if lines, words := strings.Count(string(text), "\n"), len(strings.Fields(string(text))); lines > 150 || words > 1200 {
		t.Errorf("README.md has %d lines and %d words, at most 150 and 1,200 are allowed", lines, words)
	}
}

// TestEveryPackageHasADoc holds that a comment introduces each package but the program's own, which is one line.
func TestEveryPackageHasADoc(t *testing.T) {
	has := map[string]bool{}
	err := filepath.WalkDir("../..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && file != "../..") {
			return filepath.SkipDir
		}
		dir := filepath.Dir(file)
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || dir == "../.." {
			return nil
		}
		text, err := os.ReadFile(file)
		has[dir] = has[dir] || regexp.MustCompile(`(?m)^// (Package|Command) `).Match(text)
		return err
	})
	if err != nil || len(has) < 50 {
		t.Fatal(len(has), err)
	}
	for dir, documented := range has {
		if !documented {
			t.Errorf("%s has no comment that introduces the package", dir)
		}
	}
}

// missing describes the part of a link that does not exist, or returns "".
func missing(at, name string) string {
	file := filepath.Join("..", "..", filepath.FromSlash(at))
	info, err := os.Stat(file)
	if err != nil {
		return "there is no such file"
	}
	if name == "" {
		return ""
	}
	if info.IsDir() {
		return "a folder declares nothing"
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	if !declares(at, string(content), name) {
		return "does not declare " + name
	}
	return ""
}

// declares reports whether a file has a declaration, or a document a heading, of that name.
func declares(at, content, name string) bool {
	quoted := regexp.QuoteMeta(name)
	pattern := `(?m)^(?:func|type|var|const|templ) ` + quoted + `\b`
	if receiver, method, ok := strings.Cut(name, "."); ok {
		pattern = `(?m)^(?:func|templ) \(\w+ \*?` + regexp.QuoteMeta(receiver) + `\) ` + regexp.QuoteMeta(method) + `\b`
	}
	if path.Ext(at) == ".md" {
		for line := range strings.Lines(content) {
			if strings.HasPrefix(line, "#") && docs.Anchor(strings.TrimLeft(line, "# ")) == name {
				return true
			}
		}
		return false
	}
	return regexp.MustCompile(pattern).MatchString(content)
}

func TestLinksToNothingAreFound(t *testing.T) {
	for link, found := range map[[2]string]bool{
		{"internal/app/app.go", "Run"}:                 true,
		{"internal/app/app.go", "Walk"}:                false,
		{"internal/app/nothing.go", ""}:                false,
		{"internal/app", "Run"}:                        false,
		{"views/page.go", "Deadline.Set"}:              true,
		{"views/page.go", "Deadline.Forget"}:           false,
		{"views/board.templ", "Board"}:                 true,
		{"docs/architecture.md", "the-path-of-a-page"}: true,
		{"docs/architecture.md", "the-path-of-a-cat"}:  false,
	} {
		if why := missing(link[0], link[1]); (why == "") != found {
			t.Errorf("%v: %q", link, why)
		}
	}
}
