package cli

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
)

// withTask makes the world's site have a task with a bundle, and accept tasks. It returns the publishing requests.
func (w *world) withTask(name string, bundle []byte) *[]string {
	published := &[]string{}
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/v1/tasks/sum/validation":
			json.NewEncoder(rw).Encode(client.ValidationQueued{Task: "sum", Queued: 10})
		case r.Method == http.MethodPost:
			*published = append(*published, strings.TrimPrefix(r.URL.Path, "/api/v1/tasks/")+" "+
				r.URL.Query().Get("dry_run"))
			json.NewEncoder(rw).Encode(client.Published{Task: "sum", Change: client.ChangeCreated,
				DryRun: r.URL.Query().Has("dry_run")})
		case strings.HasSuffix(r.URL.Path, "/bundle"):
			rw.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
			rw.Write(bundle)
		case r.URL.Path == "/api/v1/devices":
			json.NewEncoder(rw).Encode(map[string]any{"devices": []client.Device{{Device: "CPU", Slots: 4},
				{Device: "H200"}}})
		default:
			json.NewEncoder(rw).Encode(client.Task{TaskSummary: client.TaskSummary{Slug: "sum",
				Devices: []string{"CPU", "H200"}}})
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

func manyFiles() map[string]string {
	files := map[string]string{}
	for i := range 5000 {
		files[fmt.Sprint("sum/", i)] = ""
	}
	return files
}

func TestAPulledTaskLiesInItsFolderAndNowhereElse(t *testing.T) {
	for name, c := range map[string]struct {
		file   string
		bundle []byte
		want   []string
		wrong  string
	}{
		"a folder around all": {"sum.zip", zipped(t, map[string]string{"sum/task.yml": "a", "sum/parts/b.h": "b"}),
			[]string{"parts/b.h", "task.yml", projectFile}, ""},
		"no folder around all": {"sum.zip", zipped(t, map[string]string{"task.yml": "a", "parts/b.h": "b"}),
			[]string{"parts/b.h", "task.yml", projectFile}, ""},
		"a legacy reference":    {"sum.py", []byte("import torch"), []string{"sum.py", projectFile}, ""},
		"a file that leads out": {"sum.zip", zipped(t, map[string]string{"sum/../../escaped": "x"}), nil, "escaped"},
		"files without number":  {"sum.zip", zipped(t, manyFiles()), nil, "5000 files"},
		"files without an end": {"sum.zip",
			zipped(t, map[string]string{"sum/task.yml": "a", "sum/data": strings.Repeat("0", maxUnpackedBytes)}), nil,
			"exceed 64 MiB"},
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
			if text, _ := os.ReadFile(filepath.Join(dir, projectFile)); !strings.Contains(string(text),
				"task = \"sum\"\ndevices = [\"CPU\"]\n") {
				t.Errorf("%s says %s", projectFile, text)
			}
			if err := w.run(t, "task", "pull", "sum", dir, "--server", w.URL); err == nil {
				t.Error("a folder that is there was written into")
			}
		})
	}
}

func TestSyncChangesNothingWithoutTheFlag(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	published := w.withTask("", nil)
	for _, task := range []string{"vectoradd_cpp", "softmax_numpy"} {
		if err := os.CopyFS(filepath.Join(dir, task),
			os.DirFS(filepath.Join("../../../tasks/examples", task))); err != nil {
			t.Fatal(err)
		}
	}
	for flag, want := range map[string][]string{"": {"softmax-numpy 1", "vectoradd-cpp 1"},
		"--apply": {"softmax-numpy ", "vectoradd-cpp "}} {
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
	if err := w.run(t, "task", "publish", dir, "--server", w.URL); console.ExitCode(err) != console.ExitUsage {
		t.Errorf("publishing two tasks at once: %v", err)
	}
}

// publishes makes the world's site accept tasks with these contents, by name, and record each publication.
func (w *world) publishes(t *testing.T, has map[string][]byte) *[]string {
	t.Helper()
	asked := &[]string{}
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		name, isBundle := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/api/v1/tasks/"), "/bundle")
		if isBundle && has[name] == nil {
			rw.WriteHeader(http.StatusNotFound)
			return
		}
		if isBundle {
			rw.Header().Set("Content-Disposition", `attachment; filename="`+name+`.zip"`)
			rw.Write(has[name])
			return
		}
		*asked = append(*asked, strings.TrimSpace(name+" "+r.URL.Query().Get("deadline")))
		json.NewEncoder(rw).Encode(client.Published{Task: name, Change: "version", Differences: []client.Difference{
			{Key: "title", Old: "A", New: "B"},
			{Key: "files.task.h", Old: "2 lines, 20 bytes", New: "3 lines, 30 bytes"}}})
	})
	return asked
}

const sumTask = "title: Sum\ndescription: Add.\nlang: cpp\nfiles: [{name: task.h, source: task.h}, {name: kernel.cpp, source: \"@SUBMISSION@\"}, {name: reference.h, source: reference.h}]\n"

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestADeadlineReachesTheSiteAsVerifyTaskTellsIt(t *testing.T) {
	w := newWorld(t)
	asked := w.publishes(t, map[string][]byte{"old": []byte("x"), "kept": []byte("x")})
	dir := folder(t, map[string]string{
		"problems/set.yaml":     "problems:\n  - {directory: sum, name: old, deadline: 2030-01-31T18:00:00+01:00, gpus: [CPU]}\n  - {directory: sum, name: kept, gpus: [CPU]}\n  - {directory: sum, name: fresh, gpus: [CPU]}\n",
		"problems/sum/task.yml": sumTask, "problems/sum/task.h": "\n", "problems/sum/reference.h": "\n",
	})
	if err := w.run(t, "task", "sync", dir, "--apply", "--server", w.URL); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"old 2030-01-31T17:00:00Z", "kept", "fresh 20"} {
		if len(*asked) != 3 || !strings.HasPrefix((*asked)[i], want) {
			t.Errorf("the site was asked for %q, want %s…", *asked, want)
		}
	}
	if !strings.Contains(w.out.String(), "No deadline is given") {
		t.Errorf("a deadline that is assumed is not told: %s", &w.out)
	}
	*asked = nil
	one := filepath.Join(dir, "problems", "sum")
	for flag, want := range map[string]string{"2031-02-03": "sum 2031-02-03T00:00:00Z", "none": "sum none", "": "sum"} {
		*asked = nil
		if err := w.run(t, "task", "publish", one, "--deadline", flag, "--server", w.URL); err != nil ||
			!slices.Equal(*asked, []string{want}) {
			t.Errorf("--deadline %q: %v, and the site was asked for %q", flag, err, *asked)
		}
	}
	if err := w.run(t, "task", "publish", one, "--deadline", "soon", "--server",
		w.URL); console.ExitCode(err) != console.ExitUsage {
		t.Errorf("--deadline soon: %v", err)
	}
}

func TestPublishingNamesTheTaskAsItWasPulledAndShowsADiff(t *testing.T) {
	w := newWorld(t)
	site := zipped(t, map[string]string{"sum/task.yml": sumTask, "sum/task.h": "// one\n// two\n",
		"sum/reference.h": "\n"})
	asked := w.publishes(t, map[string][]byte{"sum": site})
	dir := folder(t, map[string]string{"task.yml": sumTask, "task.h": "// one\n// three\n", "reference.h": "\n",
		projectFile: "task = \"sum\"\ndevices = [\"CPU\"]\n"})
	if err := w.run(t, "task", "publish", dir, "--server", w.URL); err != nil ||
		!slices.Equal(*asked, []string{"sum"}) {
		t.Errorf("published %q, %v: want what warpboard.toml names", *asked, err)
	}
	for _, want := range []string{"  title: A → B\n", "    --- site/files.task.h\n    +++ here/files.task.h\n",
		"     // one\n    -// two\n    +// three\n"} {
		if !strings.Contains(w.out.String(), want) {
			t.Errorf("it prints no %q:\n%s", want, &w.out)
		}
	}
	if strings.Contains(w.out.String(), projectFile) {
		t.Errorf("the file that pull writes is warned of:\n%s", &w.out)
	}
	if err := w.run(t, "task", "publish", t.TempDir(), "--server", w.URL); err == nil ||
		strings.Contains(err.Error(), "upload") {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestAPulledTaskNamesNoDeviceWithoutAWorker(t *testing.T) {
	of, known := []string{"CPU", "H200"}, []client.Device{{Device: "CPU"}, {Device: "A100", Slots: 1}}
	if got := devicesSettingLine(of, known); !strings.Contains(got, "\n# devices = [\"CPU\", \"H200\"]\n") {
		t.Errorf("it names %s", got)
	}
}

func TestATaskIsShownWithTheNamesOfItsDevices(t *testing.T) {
	w := newWorld(t)
	w.withTask("sum.zip", zipped(t, map[string]string{"task.yml": "a"}))
	if err := w.run(t, "task", "show", "sum", "--server", w.URL); err != nil ||
		!strings.Contains(w.out.String(), ", on CPU, H200\n") {
		t.Errorf("%v: %s", err, w.out.String())
	}
}

func TestATasksScriptIsRunFromTheCommandLine(t *testing.T) {
	w := newWorld(t)
	w.withTask("sum.zip", nil)
	if err := w.run(t, "task", "validate", "sum", "--server", w.URL); err != nil ||
		!strings.Contains(w.out.String(), "The script of sum is queued for 10 entries.") {
		t.Errorf("%v: %s", err, w.out.String())
	}
}
