package fuzztest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var target = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(f \*testing\.F\) \{\n(.*)\n`)

func TestEveryFuzzTargetCallsMoment(t *testing.T) {
	found := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") &&
			d.Name() != "..") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range target.FindAllStringSubmatch(string(text), -1) {
			found++
			if m[2] != "\tfuzztest.Moment(f)" {
				t.Errorf("%s: %s begins with %q, want fuzztest.Moment(f)", path, m[1], m[2])
			}
		}
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("%d targets found, %v", found, err)
	}
}
