package views

import (
	"bytes"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/a-h/templ/generator"
	"github.com/a-h/templ/parser/v2"
)

// TestGeneratedPagesAreOfTheirTemplates generates each *_templ.go again as `make generate` does, with templ's own
// generator: to compile its command costs more than everything else of this package's tests. A file without its
// template is stale, too.
func TestGeneratedPagesAreOfTheirTemplates(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, folder := range []string{"views", "web"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			source, isTemplate := strings.CutSuffix(path, ".templ")
			if isTemplate {
				found++
				wantGenerated(t, root, path, source+"_templ.go")
			} else if source, generated := strings.CutSuffix(path, "_templ.go"); generated {
				_, err = os.Stat(source + ".templ")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if found == 0 {
		t.Error("no template was found")
	}
}

// wantGenerated fails unless a template gives what is in a file.
func wantGenerated(t *testing.T, root, template, file string) {
	t.Helper()
	name, err := filepath.Rel(root, template)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.Parse(template)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	var text bytes.Buffer
	_, err = generator.Generate(parsed, &text, generator.WithVersion(templ.Version()),
		generator.WithFileName(filepath.ToSlash(name)))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	want, err := format.Source(text.Bytes())
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what templ makes of it (%v): run `make generate` and commit the result", name, err)
	}
}
