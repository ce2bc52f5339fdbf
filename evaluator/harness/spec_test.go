package harness

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

func TestCasesFileKeepsOrderAndText(t *testing.T) {
	cases := []tasks.Case{
		{{Name: "size", Value: "1024"}, {Name: "seed", Value: "4"}, {Name: "dist", Value: "lapack_dense_2"}},
		{{Name: "eps", Value: "1e-05"}, {Name: "shape", Value: "[1, 2]"}, {Name: "mask", Value: "None"}},
	}
	want := "size: 1024; seed: 4; dist: lapack_dense_2\neps: 1e-05; shape: [1, 2]; mask: None\n"
	if diff := cmp.Diff(want, string(CasesFile(cases))); diff != "" {
		t.Error(diff)
	}
}

func TestStagesRunTheirCases(t *testing.T) {
	one := func(v string) tasks.Case { return tasks.Case{{Name: "n", Value: v}} }
	def := tasks.Definition{Tests: []tasks.Case{one("1"), one("2")}, Benchmarks: []tasks.Case{one("3"), one("4")},
		RankingBy: tasks.RankLastCase}
	geom := def
	geom.RankingBy = tasks.RankGeometricMean
	tests := []struct {
		def   tasks.Definition
		stage job.Stage
		mode  string
		want  []tasks.Case
	}{
		{def, job.StageTest, "test", def.Tests},
		{def, job.StageBenchmark, "benchmark", def.Benchmarks[1:]},
		{def, job.StageRanked, "leaderboard", def.Benchmarks[1:]},
		{geom, job.StageSecret, "leaderboard", def.Benchmarks},
		{geom, job.StageProfile, "profile", def.Benchmarks},
		{tasks.Definition{RankingBy: tasks.RankLastCase}, job.StageRanked, "leaderboard", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, StageCases(tt.def, tt.stage)); diff != "" || EvalMode(tt.stage) != tt.mode {
			t.Errorf("%s: mode %s, cases (-want +got):\n%s", tt.stage, EvalMode(tt.stage), diff)
		}
	}
}

// compiled returns the names of the files to compile in link order, with marks for the judge's and the submission's.
func compiled(l SourceSet) []string {
	var names []string
	for _, u := range l.ToCompile {
		if u.HasSubmission {
			u.FileName = "*" + u.FileName
		}
		if u.IsJudge {
			u.FileName = "judge " + u.FileName
		}
		names = append(names, u.FileName)
	}
	return names
}

func TestAssembleSources(t *testing.T) {
	own := map[string][]byte{"eval.cu": []byte("theirs"), "utils.h": []byte("theirs"), "task.h": nil,
		"submission.cu": nil}
	files := []tasks.File{{Name: "eval.cu", Source: "eval.cu"}, {Name: "submission.cu", Source: tasks.SubmissionSource}}
	cuda := tasks.Definition{Lang: tasks.LangCUDA, Files: files,
		Config: tasks.BuildConfig{Sources: []string{"eval.cu", "submission.cu"}}}

	bundle := cuda
	bundle.HasOwnHarness = true
	if l := AssembleSources(bundle, own); string(l.Files["eval.cu"]) != "theirs" || l.HasSeparateJudge ||
		!cmp.Equal(compiled(l), []string{"eval.cu", "*submission.cu"}) {
		t.Errorf("a bundle's own harness: %v, separable %v", compiled(l), l.HasSeparateJudge)
	}
	l := AssembleSources(cuda, own)
	if string(l.Files["eval.cu"]) == "theirs" || string(l.Files["utils.h"]) == "theirs" || !l.HasSeparateJudge ||
		!cmp.Equal(compiled(l), []string{"judge eval.cu", "warpboard_runner.cu", "*submission.cu"}) {
		t.Errorf("ours in place of a bundle's: %v, separable %v", compiled(l), l.HasSeparateJudge)
	}
	if _, there := l.TaskFiles()["submission.cu"]; there {
		t.Error("the submission is among the task's files")
	}
	if string(own["eval.cu"]) != "theirs" {
		t.Error("the job's own map was changed")
	}

	python := tasks.Definition{Lang: tasks.LangPython, Config: tasks.BuildConfig{MainFile: "eval.py"}}
	l = AssembleSources(python, map[string][]byte{"eval.py": []byte("theirs"), "utils.py": []byte("theirs")})
	if string(l.Files["eval.py"]) == "theirs" || string(l.Files["utils.py"]) != "theirs" ||
		l.MainScript != "warpboard_judge.py" || l.RunnerScript == "" || l.Files["eval.py"] != nil {
		t.Errorf("Python: main %s, files %v", l.MainScript, slices.Sorted(maps.Keys(l.Files)))
	}

	legacy := tasks.Definition{Protocol: tasks.ProtocolLegacy, Lang: tasks.LangCPP}
	if l = AssembleSources(legacy, nil); !cmp.Equal(compiled(l), []string{"judge eval.cpp", "*warpboard_runner.cpp"}) ||
		l.Files["utils.h"] != nil {
		t.Errorf("legacy format: %v", compiled(l))
	}
}

func TestEveryFormAndLanguageHasItsHarness(t *testing.T) {
	for _, form := range []tasks.Protocol{tasks.ProtocolEval, tasks.ProtocolLegacy} {
		for _, lang := range []tasks.Lang{tasks.LangCPP, tasks.LangCUDA, tasks.LangPython} {
			name := "eval." + string(lang)
			if lang == tasks.LangPython {
				name = runnerScript
			}
			if len(Sources(form, lang)[name]) == 0 {
				t.Errorf("%s/%s has no %s", form, lang, name)
			}
		}
	}
	if len(RunnerSources()["warm.py"]) == 0 {
		t.Error("there is no warm runner")
	}
}
