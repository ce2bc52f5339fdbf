package static

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"regexp"
	"testing"
)

func TestVersionIsTheHashOfTheFiles(t *testing.T) {
	names, err := fs.Glob(Files(), "*")
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.New()
	for _, name := range names { // sorted by Glob, as the build sorts them
		text, err := fs.ReadFile(Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		hash.Write([]byte(name + "\x00"))
		hash.Write(text)
	}
	if got, want := Version(), hex.EncodeToString(hash.Sum(nil))[:12]; got != want {
		t.Errorf("version.txt says %s, the files hash to %s: run npm run build", got, want)
	}
}

func TestStylesheetLoadsNothingFromElsewhere(t *testing.T) {
	css, err := fs.ReadFile(Files(), "app.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`url\(([^)]*)\)`).FindAllSubmatch(css, -1) {
		name := string(found[1])
		if len(name) > 5 && name[:5] == "data:" {
			continue
		}
		if _, err := fs.Stat(Files(), name); err != nil {
			t.Errorf("app.css loads %s, which is not embedded", name)
		}
	}
}
