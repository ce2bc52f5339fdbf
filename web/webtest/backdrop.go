package webtest

import (
	"context"
	"os"
	"sync"
	"testing"

	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/web"
)

// plain and profiled are the prepared stores of Scene and ProfiledScene.
var plain, profiled backdrop

// backdrop is a closed store that contains the data of a scene. It is filled once per test process, because that takes
// longer than most tests. Each test gets a copy.
type backdrop struct {
	once sync.Once
	dir  string
	made ProfiledScene // the scene's people, tasks, and runs in the store
}

// restore starts a site on a new copy of the backdrop's store. The first call fills the store with set and closes it.
// changes modify the configuration of the new site, not the store.
func (b *backdrop) restore(t testing.TB, set func(*ProfiledScene), changes ...func(*web.Config)) *ProfiledScene {
	t.Helper()
	b.once.Do(func() { b.make(t, set) })
	if b.dir == "" {
		t.Fatal("the scene could not be set; the first test that wanted it says why")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(b.dir)); err != nil {
		t.Fatal(err)
	}
	s, copied := b.made, *b.made.Scene
	copied.Site = StartAt(t, "127.0.0.1:0", modelstest.OpenDir(t, dir), changes...)
	s.Scene = &copied
	return &s
}

func (b *backdrop) make(t testing.TB, set func(*ProfiledScene)) {
	t.Helper()
	dir, err := os.MkdirTemp(scratch, "backdrop-")
	if err != nil {
		t.Fatal(err)
	}
	store, err := models.Open(context.Background(), models.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	b.made.Scene = &Scene{Site: StartAt(t, "127.0.0.1:0", store)}
	set(&b.made)
	b.made.Stop()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	b.dir = dir
}
