package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/work"
)

// furtherFiles returns a header and a second source file of a submission to the small task, which accepts such files.
func furtherFiles() map[string]string {
	return map[string]string{
		"sum.h":   "#pragma once\n#include \"task.h\"\noutput_t sum(const input_t& data);\n",
		"sum.cpp": "#include \"sum.h\"\noutput_t sum(const input_t& data) { return data.size + data.seed; }\n",
	}
}

const sumFromAFile = "#include \"sum.h\"\noutput_t custom_kernel(input_t data) { return sum(data); }\n"

// ranksSeveralFiles submits a kernel of three files and reads them back. Submissions with too many files, or with names
// that the task already uses, must be refused.
func (p person) ranksSeveralFiles() {
	p.t.Helper()
	in := client.NewSubmission{Task: smallTask, Devices: []string{"CPU"}, Mode: job.ModeRanked, FileName: "kernel.cpp",
		Source: sumFromAFile, Files: furtherFiles()}
	sub, err := p.Submit(p.t.Context(), in)
	if err != nil {
		p.t.Fatal(err)
	}
	if run := p.reach(sub.ID, work.StateDone); run.ScoreNS == nil {
		p.t.Errorf("a kernel of three files has no score: %+v", run)
	}
	file, err := p.SubmissionSource(p.t.Context(), sub.ID)
	if err != nil || file.Name != "kernel.cpp" || file.Text != sumFromAFile ||
		file.Files["sum.h"] != in.Files["sum.h"] || len(file.Files) != 2 {
		p.t.Errorf("its source reads back as %+v, %v", file, err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"task.h", "", `the file "task.h" has the name of a file of the task`},
		{"utils.h", "", `the file "utils.h" has the name of a file of Warpboard's harness`},
		{"../sum.h", "", `the file "../sum.h" has a name that is not a plain file name`},
		{"sum.cuh", "", `the file "sum.cuh" is not one that the task takes beside the main one: *.h, *.cpp`},
		{"kernel.cpp", "", `the main file and another one are both called "kernel.cpp"`},
		{"sum.h", strings.Repeat("/", 999_990), "a submission may have 1000000"},
	} {
		in.Files = map[string]string{c.name: c.text}
		if _, err := p.Submit(p.t.Context(), in); err == nil || !strings.Contains(err.Error(), c.want) {
			p.t.Errorf("with a file %s: %v, want %q", c.name, err, c.want)
		}
	}
	in.Files = map[string]string{"sum.h": "#pragma once\n#include \"task.h\"\nint broken = nonsense;\n"}
	sub, err = p.Submit(p.t.Context(), in)
	if err != nil {
		p.t.Fatal(err)
	}
	if run := p.reach(sub.ID, work.StateFailed); !strings.Contains(run.Stages[0].Stderr, "sum.h:3") {
		p.t.Errorf("a header that does not compile: %+v", run)
	}
}

// submitsSeveralFiles submits a kernel of several files with the command line.
func (p person) submitsSeveralFiles(site string, says func(want string, args ...string)) {
	p.t.Helper()
	dir := p.t.TempDir()
	args := []string{"submit", "--json", "--watch", "--task", smallTask, "--device", "CPU",
		filepath.Join(dir, "kernel.cpp")}
	files := furtherFiles()
	for name := range files {
		args = append(args, filepath.Join(dir, name))
	}
	files["kernel.cpp"] = sumFromAFile
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	printed, err := p.command(site, args...)
	var sub client.Submission
	if err := json.Unmarshal([]byte(printed), &sub); err != nil || len(sub.Runs) != 1 ||
		sub.Runs[0].State != string(work.StateDone) {
		p.t.Fatalf("%v\n%s", err, printed)
	}
	if err != nil {
		p.t.Error(err)
	}
	says("==> kernel.cpp <== "+strings.Join(strings.Fields(sumFromAFile), " ")+" ==> sum.cpp <==", "source",
		fmt.Sprint(sub.ID))
}
