package app

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warpboard/docs"
)

var markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinksOfDocumentsExist checks the links from the documents to the code: the file exists, and declares the name
// after #: a heading of a document, or a function, type, variable, template, or Type.Method.
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

// documents lists the Markdown files of the repository's root and of docs/.
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

// TestReadmeIsShort limits the README to what a reader finishes in a minute.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if lines, words := strings.Count(string(text), "\n"), len(strings.Fields(string(text))); lines > 150 ||
		words > 1200 {
		t.Errorf("README.md has %d lines and %d words, at most 150 and 1,200 are allowed", lines, words)
	}
}

// TestEveryPackageHasADoc checks that a comment introduces each package except the program's own, which is one line.
func TestEveryPackageHasADoc(t *testing.T) {
	has := map[string]bool{}
	err := filepath.WalkDir("../..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata" ||
			strings.HasPrefix(entry.Name(), ".") && file != "../..") {
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

var (
	docFile    = regexp.MustCompile(`[\w./-]*\w\.(?:go|templ|py|sql|js|css|h|cuh|cpp|cu|md)\b`)
	docPackage = regexp.MustCompile(`\bpackage ([a-z]\w+)(?:[),;.:]|'s)`)
	docFolder  = regexp.MustCompile(
		`[\s(](?:evaluator|models|web|views|internal|tasks|clients|scripts|docs|e2e)/[a-z0-9_/-]*[a-z0-9_]`)
	docName = regexp.MustCompile(`\b([a-z]\w*)\.([A-Z][a-z]\w*)|\b[A-Z]\w*\.([A-Z]\w*)\b|\b([a-z]+[A-Z]\w*)\b`)
	docWord = regexp.MustCompile(`\w+`)
	clause  = regexp.MustCompile(`(?m)^package (\w+)`)
)

// TestNamesInPackageCommentsExist checks the names of files, packages, and functions in each doc.go. A Go file must be
// in the package's folder or below it, or be written with its path.
func TestNamesInPackageCommentsExist(t *testing.T) {
	listed, err := exec.Command("git", "-C", "../..", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("not a checkout: ", err)
	}
	files := strings.Fields(string(listed))
	comments, packages, words := map[string]string{}, map[string][]string{}, map[string]map[string]bool{"": {}}
	for _, file := range files {
		dir, text := path.Dir(file), ""
		if !strings.HasSuffix(file, "_test.go") && regexp.MustCompile(`\.(go|templ|py|h|cuh)$`).MatchString(file) {
			content, _ := os.ReadFile(filepath.Join("..", "..", file)) // the error for a deleted file is ignored
			text = string(content)
		}
		if m := clause.FindStringSubmatch(text); m != nil {
			packages[m[1]] = append(packages[m[1]], dir)
		}
		if path.Base(file) == "doc.go" {
			comments[dir], _, _ = strings.Cut(text, "\npackage ")
			continue
		}
		if words[dir] == nil {
			words[dir] = map[string]bool{}
		}
		for _, word := range docWord.FindAllString(text, -1) {
			words[dir][word], words[""][word] = true, true
		}
	}
	exists := func(dir, name string) bool {
		return slices.ContainsFunc(files, func(f string) bool {
			at := strings.HasPrefix(f, dir+"/") || path.Ext(name) != ".go" && path.Ext(name) != ".templ"
			return f == name || strings.HasPrefix(f, name+"/") || at && strings.HasSuffix(f, "/"+name)
		})
	}
	for dir, comment := range comments {
		wrong := func(name string) { t.Errorf("%s/doc.go mentions %s, which does not exist", dir, name) }
		for _, name := range slices.Concat(docFile.FindAllString(comment, -1),
			docFolder.FindAllString(docFile.ReplaceAllString(comment, ""), -1)) {
			if name = strings.Trim(name, " \t\n("); !strings.HasPrefix(name, "_") && !exists(dir, name) {
				wrong(name)
			}
		}
		for _, m := range docPackage.FindAllStringSubmatch(comment, -1) {
			if packages[m[1]] == nil {
				wrong("package " + m[1])
			}
		}
		for _, m := range docName.FindAllStringSubmatch(comment, -1) {
			in := []string{""} // without a package, the name may be another package's or language's
			if m[1] != "" {
				in = packages[m[1]]
			}
			name := m[2] + m[3] + m[4]
			if len(name) > 2 && in != nil && !slices.ContainsFunc(in, func(d string) bool { return words[d][name] }) {
				wrong(m[0])
			}
		}
	}
	if len(comments) < 80 {
		t.Errorf("only %d comments were checked", len(comments))
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
		{"views/page.go", "Deadline.IsSet"}:            true,
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
