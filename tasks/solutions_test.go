package tasks_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
)

func TestSolutionsAreFoundByVerdict(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "add/solutions/correct/a.py"), "a")
	write(t, filepath.Join(dir, "add/solutions/wrong/b.py"), "b")
	write(t, filepath.Join(dir, "add/solutions/wrong/folder/c.py"), "c")
	write(t, filepath.Join(dir, "add/solutions/notes.txt"), "n")
	write(t, filepath.Join(dir, "add/solutions/correct/tiled/submission.cpp"), "main")
	write(t, filepath.Join(dir, "add/solutions/correct/tiled/tile.h"), "tile")
	upload := tasks.OpenFolder(os.DirFS(dir), tasks.ReadOptions{})
	got, err := upload.Solutions("add")
	if err != nil {
		t.Fatal(err)
	}
	want := []tasks.Solution{{Name: "a.py", ShouldPass: true, Source: []byte("a")},
		{Name: "tiled", ShouldPass: true, Source: []byte("main"), Files: map[string][]byte{"tile.h": []byte("tile")}},
		{Name: "b.py", Source: []byte("b")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("solutions (-want +got):\n%s", diff)
	}
	if none, err := upload.Solutions("."); err != nil || none != nil {
		t.Errorf("a folder without solutions gave %v, %v", none, err)
	}
}
