package ncu

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// deepSymbol is a function with a pointer to a pointer, and so on. Its size overflows the stack of package demangle.
var deepSymbol = "_Z1f" + strings.Repeat("P", 2<<20) + "v"

func TestDemangleLeavesLongSymbols(t *testing.T) {
	if got := Demangle("_Z1fPv", 10); got != "f(void*)" {
		t.Errorf("got %q", got)
	}
	if got := Demangle(deepSymbol, 10); got != deepSymbol {
		t.Errorf("a long symbol became %d bytes", len(got))
	}
	if entries := readModule(".version 8.0\n.entry " + deepSymbol + "(\n)\n{\n}\n"); len(entries) > 1 {
		t.Errorf("%d entries", len(entries))
	}
}

// TestOnlyDemangleDemangles: a direct call of package demangle with a symbol of a submission can end the process.
func TestOnlyDemangleDemangles(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && len(entry.Name()) > 2):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || filepath.Base(path) == "demangle.go" || filepath.Base(path) == "demangle_test.go":
			return nil
		}
		text, err := os.ReadFile(path)
		for _, call := range []string{"Filter", "ToString", "ToAST"} {
			if strings.Contains(string(text), "demangle."+call+"(") {
				t.Errorf("%s calls demangle.%s", path, call)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
