package static

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// digest returns a hash of the names and contents of files, in 12 hex digits, as the build computes it.
func digest(t *testing.T, root string, paths []string) string {
	t.Helper()
	hash := sha256.New()
	slices.Sort(paths)
	for _, name := range paths {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		hash.Write([]byte(name + "\x00"))
		hash.Write(text)
	}
	return hex.EncodeToString(hash.Sum(nil))[:12]
}

func TestVersionIsTheHashOfTheFiles(t *testing.T) {
	names, err := fs.Glob(Files(), "*")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		names[i] = path.Join("static", name)
	}
	if got, want := Version(), digest(t, "..", names); got != want {
		t.Errorf("version.txt says %s, the files hash to %s: run npm run build", got, want)
	}
}

func TestFilesAreBuiltFromTodaysSources(t *testing.T) {
	inputs := []string{"package-lock.json", "tailwind.config.js", "views/charts/profile.css"}
	for _, pattern := range []string{"views/assets/*", "views/*.templ"} {
		found, err := fs.Glob(os.DirFS(".."), pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		inputs = append(inputs, found...)
	}
	recorded, err := os.ReadFile("inputs.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimSpace(string(recorded)), digest(t, "..", inputs); got != want {
		t.Errorf("static/ was built from other sources (%s, now %s): run npm ci && npm run build", got, want)
	}
}

func TestStylesheetsLoadNothingFromElsewhere(t *testing.T) {
	for _, sheet := range []string{"app.css", "profile.css"} {
		css, err := fs.ReadFile(Files(), sheet)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`url\(["']?([^)"']*)`).FindAllSubmatch(css, -1) {
			name := string(found[1])
			if _, err := fs.Stat(Files(), name); err != nil && !strings.HasPrefix(name, "data:") {
				t.Errorf("%s loads %s, which is not embedded", sheet, name)
			}
		}
	}
}
