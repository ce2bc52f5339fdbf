package app

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
)

// folderOf creates a folder with copies of the small task, by name, and with files that have the given texts, by path.
func folderOf(t *testing.T, copies []string, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range copies {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS("../../e2e/testdata/task")); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// install installs the tasks below dir on a site and returns the log.
func install(t *testing.T, store *models.Store, dir string, devices ...string) string {
	t.Helper()
	var log bytes.Buffer
	if err := installTasks(t.Context(), store, dir, devices, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

// ofFolder returns the tasks that were installed from a folder, by name.
func ofFolder(t *testing.T, store *models.Store) map[string]catalog.Task {
	t.Helper()
	list, err := store.TaskList(t.Context(), accounts.User{Role: accounts.RoleAdmin})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]catalog.Task{}
	for _, one := range list {
		task, err := store.Catalog.Task(t.Context(), one.Slug)
		if err != nil {
			t.Fatal(err)
		}
		if task.Origin == taskOriginFolder {
			found[task.Slug] = task
		}
	}
	return found
}

func slugs(found map[string]catalog.Task) string {
	return strings.Join(slices.Sorted(maps.Keys(found)), " ")
}

func TestBadTaskInAFolderIsLoggedAndLeftOut(t *testing.T) {
	store := modelstest.Open(t)
	dir := folderOf(t, []string{"first", "last"}, map[string]string{"broken/task.yml": "lang: cobol\n"})
	log := install(t, store, dir)
	if got := slugs(ofFolder(t, store)); got != "first last" {
		t.Errorf("installed are %q", got)
	}
	if !strings.Contains(log, "where=broken") || !strings.Contains(log, "cobol") {
		t.Errorf("the log does not say what is wrong:\n%s", log)
	}
}

func TestBadProblemOfASetIsLoggedAndLeftOut(t *testing.T) {
	store := modelstest.Open(t)
	dir := folderOf(t, []string{"set/good"}, map[string]string{
		"set.yaml": `name: Set
problems:
  - {directory: set/good, name: good, deadline: "2030-06-01 12:30", gpus: [CPU, T4]}
  - {directory: set/missing, name: missing, gpus: [CPU]}
`})
	log := install(t, store, dir)
	found := ofFolder(t, store)
	if slugs(found) != "good" {
		t.Fatalf("installed are %q:\n%s", slugs(found), log)
	}
	good := found["good"]
	if good.Deadline == nil || !good.Deadline.Equal(time.Date(2030, 6, 1, 12, 30, 0, 0, time.UTC)) {
		t.Errorf("its deadline is %v", good.Deadline)
	}
	if diff := cmp.Diff([]string{"CPU", "T4"}, []string(good.Devices)); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
	if !strings.Contains(log, "set.yaml: missing") {
		t.Errorf("the log does not say what is wrong:\n%s", log)
	}
}

func TestDeadlineOfASetFollowsItsFile(t *testing.T) {
	store := modelstest.Open(t)
	set := "name: Set\nproblems:\n  - {directory: one, name: one, deadline: \"%s\", gpus: [CPU]}\n"
	dir := folderOf(t, []string{"one"}, nil)
	for _, until := range []string{"2030-06-01 12:30:00", "2030-06-08 12:30:45"} {
		if err := os.WriteFile(filepath.Join(dir, "set.yaml"), fmt.Appendf(nil, set, until), 0o644); err != nil {
			t.Fatal(err)
		}
		log := install(t, store, dir)
		if got := ofFolder(t, store)["one"].Deadline; got == nil || got.Format(time.DateTime) != until {
			t.Errorf("the deadline is %v, want %s:\n%s", got, until, log)
		}
	}
}

func TestLinkDoesNotLeadOutOfTheTaskFolder(t *testing.T) {
	outside := folderOf(t, []string{"secret"}, nil)
	dir := folderOf(t, []string{"fine"}, nil)
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "fine", "reference.h")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret", "reference.h"),
		filepath.Join(dir, "fine", "reference.h")); err != nil {
		t.Fatal(err)
	}
	store := modelstest.Open(t)
	log := install(t, store, dir)
	if got := slugs(ofFolder(t, store)); got != "" || !strings.Contains(log, "reference.h") {
		t.Errorf("installed are %q:\n%s", got, log)
	}
}

func TestTasksOfAFolderFollowIt(t *testing.T) {
	store := modelstest.Open(t)
	dir := folderOf(t, []string{"one"}, nil)
	task := filepath.Join(dir, "one", "task.yml")
	text, err := os.ReadFile(task)
	if err != nil {
		t.Fatal(err)
	}
	write := func(old, new string) {
		if err := os.WriteFile(task, bytes.Replace(text, []byte(old), []byte(new), 1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("gpus: [CPU]\n", "")
	install(t, store, dir, "CPU", "T4")
	first := ofFolder(t, store)["one"]
	if diff := cmp.Diff([]string{"CPU", "T4"}, []string(first.Devices)); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
	if log := install(t, store, dir, "CPU", "T4"); strings.Contains(log, "task=one") {
		t.Errorf("an unchanged task was installed again:\n%s", log)
	}
	write("ranking_by: last", "ranking_by: geom")
	install(t, store, dir)
	if second := ofFolder(t, store)["one"]; second.ID != first.ID || second.VersionID == first.VersionID {
		t.Errorf("version %d of task %d after version %d of task %d", second.VersionID, second.ID, first.VersionID,
			first.ID)
	}
}

func TestAMissingTaskFolderStopsTheServer(t *testing.T) {
	err := installTasks(t.Context(), modelstest.Open(t), filepath.Join(t.TempDir(), "nothing"), nil,
		slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "not a directory that can be read") {
		t.Errorf("error is %v", err)
	}
}

// New users should find easy tasks first, and those that the machine can run: the home page lists the latest first, and
// online devices before others.
func TestBuiltInTasksAreSortedByDifficulty(t *testing.T) {
	store := modelstest.Open(t)
	install(t, store, "")
	list, err := store.TaskList(t.Context(), accounts.User{})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, task := range list {
		kind, _, _ := strings.Cut(task.Slug, "-")
		kinds = append(kinds, kind)
	}
	if got := strings.Join(slices.Compact(kinds), " "); got != "vectoradd softmax prefixsum matmul" {
		t.Errorf("the built-in tasks stand as %s", got)
	}
}
