package cli

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warpboard/web/client"
)

// withTask makes the world's site have a task with a bundle, and take tasks; it returns the requests that published.
func (w *world) withTask(name string, bundle []byte) *[]string {
	published := &[]string{}
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			*published = append(*published, strings.TrimPrefix(r.URL.Path, "/api/v1/tasks/")+" "+r.URL.Query().Get("dry_run"))
			json.NewEncoder(rw).Encode(client.Published{Task: "sum", Change: client.Created, DryRun: r.URL.Query().Has("dry_run")})
		case strings.HasSuffix(r.URL.Path, "/bundle"):
			rw.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
			rw.Write(bundle)
		default:
			json.NewEncoder(rw).Encode(client.Task{TaskSummary: client.TaskSummary{Slug: "sum", Devices: []string{"CPU", "H200"}}})
		}
	})
	return published
}

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for name, text := range files {
		w, err := archive.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAPulledTaskLiesInItsFolderAndNowhereElse(t *testing.T) {
	for name, c := range map[string]struct {
		file   string
		bundle []byte
		want   []string
		wrong  string
	}{
		"a folder around all":   {"sum.zip", zipped(t, map[string]string{"sum/task.yml": "a", "sum/parts/b.h": "b"}), []string{"parts/b.h", "task.yml", projectFile}, ""},
		"no folder around all":  {"sum.zip", zipped(t, map[string]string{"task.yml": "a", "parts/b.h": "b"}), []string{"parts/b.h", "task.yml", projectFile}, ""},
		"a legacy reference":    {"sum.py", []byte("import torch"), []string{"sum.py", projectFile}, ""},
		"a file that leads out": {"sum.zip", zipped(t, map[string]string{"sum/../../escaped": "x"}), nil, "escaped"},
		"files without an end":  {"sum.zip", zipped(t, map[string]string{"sum/task.yml": "a", "sum/data": strings.Repeat("0", maxUnpacked)}), nil, "more than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := newWorld(t), filepath.Join(t.TempDir(), "sum")
			w.withTask(c.file, c.bundle)
			err := w.run(t, "task", "pull", "sum", dir, "--server", w.URL)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("it ended with %v", err)
				}
				if _, err := os.Stat(dir); err == nil {
					t.Error("half a task is left")
				}
				return
			}
			var found []string
			if err == nil {
				err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
					if err == nil && !d.IsDir() {
						path, err = filepath.Rel(dir, path)
						found = append(found, path)
					}
					return err
				})
			}
			slices.Sort(c.want)
			if err != nil || !slices.Equal(found, c.want) {
				t.Errorf("%v: the folder holds %q, want %q", err, found, c.want)
			}
			if text, _ := os.ReadFile(filepath.Join(dir, projectFile)); !strings.Contains(string(text), "task = \"sum\"\ndevices = [\"CPU\", \"H200\"]") {
				t.Errorf("%s says %s", projectFile, text)
			}
			if err := w.run(t, "task", "pull", "sum", dir, "--server", w.URL); err == nil {
				t.Error("a folder that is there was written into")
			}
		})
	}
}

func TestSyncChangesNothingUnlessItIsToldTo(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	published := w.withTask("", nil)
	for _, task := range []string{"vectoradd_cpp", "softmax_numpy"} {
		if err := os.CopyFS(filepath.Join(dir, task), os.DirFS(filepath.Join("../../tasks/examples", task))); err != nil {
			t.Fatal(err)
		}
	}
	for flag, want := range map[string][]string{"": {"softmax-numpy 1", "vectoradd-cpp 1"}, "--apply": {"softmax-numpy ", "vectoradd-cpp "}} {
		*published = nil
		args := []string{"task", "sync", dir, "--server", w.URL}
		if flag != "" {
			args = append(args, flag)
		}
		if err := w.run(t, args...); err != nil || strings.Contains(w.out.String(), "would change") != (flag == "") {
			t.Errorf("%v: %v\n%s", args, err, &w.out)
		}
		if slices.Sort(*published); !slices.Equal(*published, want) {
			t.Errorf("%v published %q, want %q", args, *published, want)
		}
	}
	if err := w.run(t, "task", "publish", dir, "--server", w.URL); ExitCode(err) != exitUsage {
		t.Errorf("publishing two tasks at once: %v", err)
	}
}
