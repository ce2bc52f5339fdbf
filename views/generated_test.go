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

// TestGeneratedPagesAreOfTheirTemplates fails for each *_templ.go file that is not the output of its template, or has
// no template. It calls templ's generator directly, because compiling the templ command takes longer than all other
// tests of this package.
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

// wantGenerated fails the test unless the template generates exactly the content of the file.
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
