package tasks_test

import (
	"fmt"
	"strings"
	"testing"

	"warpboard/tasks"
)

func TestAnUploadProposesItsTasks(t *testing.T) {
	good, bad := minimal+"gpus: [T4]\n", "lang: py\n"
	cases := map[string]struct {
		file    string
		content []byte
		want    string // name and devices of each proposal, with "!" for one that has an error; or the error of all
	}{
		"one folder": {"mine.zip", zipped(t, files{"task.yml": good, "reference.py": ""}), "mine [T4]"},
		"folders": {"mine.zip", zipped(t, files{"a/task.yml": good, "a/reference.py": "", "b/task.yml": bad}),
			"a [T4], b!"},
		"problem set": {"mine.zip",
			zipped(t, files{"p/s.yaml": "problems: [{directory: a, name: first, gpus: [L4]}, {directory: b}]",
				"p/a/task.yml": good, "p/a/reference.py": ""}), "first [L4], b!"},
		"reference": {"add.py", []byte(legacyPython), "add []"},
		"nothing usable": {"mine.zip", zipped(t, files{"a/task.yml": bad, "b/task.yml": bad}),
			"a/task.yml: files: is required"},
		"missing folders": {"mine.zip", zipped(t, files{"p/s.yaml": "problems: [{directory: a}]"}),
			`there is no file "p/a/task.yml"`},
		"an empty set":     {"mine.zip", zipped(t, files{"p/s.yaml": "problems: []"}), "there is no task.yml"},
		"no task":          {"mine.zip", zipped(t, files{"a.py": ""}), "there is no task.yml"},
		"a bad reference":  {"add.cu", []byte("int x;"), "add.cu: input_t: is not defined"},
		"neither, by name": {"notes.txt", []byte("hello"), "not a zip"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var list []tasks.TaskProposal
			upload, err := tasks.OpenFile(c.file, c.content)
			if err == nil {
				list, err = upload.Proposals(now)
			}
			if err != nil {
				wantError(t, err, c.want)
				return
			}
			var got []string
			for _, p := range list {
				text := fmt.Sprint(p.Name, " ", p.GPUs)
				if p.Err != nil {
					text = p.Name + "!"
				}
				got = append(got, text)
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}
