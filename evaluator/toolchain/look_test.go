package toolchain

import (
	"fmt"
	"os"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

func TestLook(t *testing.T) {
	dir := os.Getenv("LOOK")
	if dir == "" {
		t.Skip()
	}
	b := newBuilder()
	f, err := os.ReadFile(os.Getenv("SUB"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(n string) []byte { x, _ := os.ReadFile(dir + "/" + n); return x }
	j := job.Job{Task: tasks.Definition{Form: tasks.FormEval, Lang: tasks.LangPython, RankingBy: tasks.RankGeom,
		Files: []tasks.File{{Name: "task.py", Source: "task.py"}, {Name: "reference.py", Source: "reference.py"}, {Name: "submission.py", Source: tasks.SubmissionSource}}},
		Sources: map[string][]byte{"task.py": read("task.py"), "reference.py": read("reference.py"), "submission.py": f}}
	a, _ := mustBuild(t, b, j)
	p := mustOpen(t, b, a)
	for _, mode := range []string{"test", "leaderboard"} {
		begin := time.Now()
		end, err := p.RunStage(t.Context(), StageRequest{Mode: mode, Cases: cases("rows: 256; columns: 512; seed: 7", "rows: 2048; columns: 128; seed: 8"), Timeout: time.Minute,
			OnPipe: func(b []byte) { os.Stdout.Write(b) }})
		fmt.Println(mode, time.Since(begin), err, end.ExitCode, end.Judge, end.Stdout, end.Stderr)
	}
}
