package tasks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
	"warpboard/tasks/parse"
)

func TestEveryKeyOfTaskYAMLIsRead(t *testing.T) {
	b := mustTask(t, `
lang: cpp
title: Everything
tags: [reduction, linear-algebra, beginner]
description: |
  # All keys
files:
  - {name: task.h, source: task.h}
  - {name: sub/reference.h, source: ./reference.h}
  - {name: reference.h, source: reference.h}
  - {name: submission.cpp, source: "@SUBMISSION@"}
config:
  sources: [submission.cpp]
  include_dirs: [cutlass]
  defines: {PLAIN: null, DEPTH: 3, ON: yes, TEXT: "a b"}
  compile_flags: [-O2, "-Wall"]
tests:
  - {size: 4, seed: 7}
benchmarks:
  - {size: 1024, seed: 8, kind: odd_1, scale: 0.00001, flag: true, none: null, shape: [1, 2]}
test_timeout: 10
benchmark_timeout: 20
ranked_timeout: 30
memory_limit: 512
ranking_by: geom
seed: 5
submission_files: [kernels.h, "*.hpp"]
libraries: [cuda, stdc++]
gpus: [CPU]
templates: {C++: reference.h}
roofline: {bytes: 2 * size * float32, flops: size}
profile: false
`)
	text := func(s string) *string { return &s }
	seed := int64(5)
	want := tasks.Definition{
		Protocol: tasks.ProtocolEval, Lang: tasks.LangCPP, Title: "Everything", Description: "# All keys\n",
		Tags: []string{"reduction", "linear-algebra", "beginner"},
		Files: []tasks.File{
			{Name: "task.h", Source: "task.h"}, {Name: "sub/reference.h", Source: "reference.h"},
			{Name: "reference.h", Source: "reference.h"}, {Name: "submission.cpp", Source: tasks.SubmissionSource},
		},
		Config: tasks.BuildConfig{
			Sources: []string{"submission.cpp"}, IncludeDirs: []string{"cutlass"},
			CompileFlags: []string{"-O2", "-Wall"},
			Defines: []tasks.Define{{Name: "PLAIN"}, {Name: "DEPTH", Value: text("3")},
				{Name: "ON", Value: text("True")}, {Name: "TEXT", Value: text("a b")}},
		},
		Templates: map[string]string{"C++": "reference.h"}, SubmissionFiles: []string{"kernels.h", "*.hpp"},
		Tests: []tasks.Case{{{Name: "size", Value: "4"}, {Name: "seed", Value: "7"}}},
		Benchmarks: []tasks.Case{{
			{Name: "size", Value: "1024"}, {Name: "seed", Value: "8"}, {Name: "kind", Value: "odd_1"},
			{Name: "scale", Value: "1e-05"}, {Name: "flag", Value: "True"}, {Name: "none", Value: "None"},
			{Name: "shape", Value: "[1, 2]"},
		}},
		Timeouts:    tasks.Timeouts{Test: 10 * time.Second, Benchmark: 20 * time.Second, Ranked: 30 * time.Second},
		MemoryLimit: 512 << 20,
		RankingBy:   tasks.RankGeometricMean, Seed: &seed, Libraries: []string{"cuda", "stdc++"}, GPUs: []string{"CPU"},
		Roofline:       &tasks.Roofline{Bytes: "2 * size * float32", Flops: "size"},
		DisableProfile: true,
	}
	if diff := cmp.Diff(want, b.Definition); diff != "" {
		t.Errorf("definition (-want +got):\n%s", diff)
	}
}

func TestOptionalKeysHaveDefaults(t *testing.T) {
	def := mustTask(t, minimal+"templates: {}\nseed: null\ntests:\n").Definition
	limit := 180 * time.Second
	want := tasks.Timeouts{Test: limit, Benchmark: limit, Ranked: limit}
	if def.Timeouts != want || def.RankingBy != tasks.RankLastCase || def.HasOwnHarness || def.Seed != nil ||
		def.DisableProfile {
		t.Errorf("defaults are not KernelBot's: %+v", def)
	}
	cpp := mustTask(t,
		`{lang: cpp, description: x, files: [{name: task.h, source: task.h}, {name: reference.h, source: reference.h}, {name: mine.cpp, source: "@SUBMISSION@"}]}`)
	if diff := cmp.Diff([]string{"mine.cpp"}, cpp.Definition.Config.Sources); diff != "" {
		t.Errorf("sources of a task without an eval program (-want +got):\n%s", diff)
	}
}

func TestBundleWithItsOwnEvalProgramIsRecognised(t *testing.T) {
	cases := map[string]struct{ yaml, main string }{
		"py with main":    {minimal + "  - {name: eval.py, source: eval.py}\nconfig: {main: eval.py}\n", "eval.py"},
		"py without main": {minimal + "  - {name: eval.py, source: eval.py}\n", "eval.py"},
		"py other name":   {minimal + "  - {name: run.py, source: eval.py}\nconfig: {main: run.py}\n", "run.py"},
		"cu":              {`{lang: cu, description: x, config: {sources: [eval.cu, s.cu]}, files: [{name: eval.cu, source: eval.cu}, {name: s.cu, source: "@SUBMISSION@"}]}`, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			def := mustTask(t, c.yaml).Definition
			if !def.HasOwnHarness || def.Config.MainFile != c.main {
				t.Errorf("OwnHarness %v with main %q, want true with %q", def.HasOwnHarness, def.Config.MainFile,
					c.main)
			}
		})
	}
}

// TestBadTaskYAMLIsRefusedByFileLineAndKey checks that every error has the file, the key, and, if known, the line.
func TestBadTaskYAMLIsRefusedByFileLineAndKey(t *testing.T) {
	const at = "task.yml:6: " // first line after the text of minimal
	cases := map[string]struct{ yaml, want string }{
		"unknown key": {minimal + "named: x\n", at + `named: unknown key; known are title, lang,`},
		"nearer key":  {minimal + "tets: []\n", at + `tets: unknown key; did you mean "tests"?`},
		"misspelt key": {minimal + "benchmark: []\n",
			at + `benchmark: unknown key; did you mean "benchmarks"?`},
		"misspelled foreign key": {minimal + "validaton: {version: v1}\n",
			at + `validaton: unknown key; did you mean "validation"?`},
		"unknown key in config": {minimal + "config: {sources: [a]}\n",
			at + `config.sources: unknown key; known are main`},
		"unknown key in file": {minimal + "  - {name: a, source: reference.py, mode: 1}\n",
			at + `files[2].mode: unknown key`},
		"no lang": {strings.Replace(minimal, "lang: py\n", "", 1), "task.yml: lang: is required"},
		"no description": {strings.Replace(minimal, "description: Add.\n", "", 1),
			"task.yml: description: is required"},
		"no files": {"lang: py\ndescription: x\n", "task.yml: files: is required"},
		"lang": {strings.Replace(minimal, "lang: py", "lang: rust", 1),
			`task.yml:1: lang: "rust" is not allowed; it is one of py, cu, cpp`},
		"ranking": {minimal + "ranking_by: best\n",
			at + `ranking_by: "best" is not allowed; it is one of last, mean, geom`},
		"timeout no number": {minimal + "test_timeout: long\n", at + "test_timeout: must be a whole number"},
		"timeout zero": {minimal + "ranked_timeout: 0\n",
			at + "ranked_timeout: must be between 1 and 7200 seconds"},
		"memory zero": {minimal + "memory_limit: 0\n",
			at + "memory_limit: must be between 64 and 1048576 MiB"},
		"huge number":        {minimal + "seed: 99999999999999999999\n", at + "seed: must be a whole number"},
		"not a boolean":      {minimal + "multi_gpu: 2\n", at + "multi_gpu: must be true or false"},
		"list for text":      {minimal + "title: [a]\n", at + "title: must be text"},
		"title of two lines": {minimal + "title: \"a\\nb\"\n", at + "title: must be one line"},
		"text for list":      {minimal + "tests: many\n", at + "tests: must be a list"},
		"case is text":       {minimal + "tests: [many]\n", at + "tests[0]: must be a mapping"},
		"case is empty":      {minimal + "tests: [{}]\n", at + "tests[0]: has no arguments"},
		"nested case": {minimal + "tests: [{a: {b: 1}}]\n",
			at + "tests[0].a: must be one value or a list of values"},
		"case with semicolon": {minimal + "tests: [{a: \"1; b: 2\"}]\n", at + "tests[0].a: must not hold ;"},
		"case key": {minimal + "benchmarks: [{a: 1}, {2b: 1}]\n",
			at + "benchmarks[1].2b: an argument's name"},
		"missing file": {minimal + "  - {name: a.py, source: a.py}\n",
			at + `files[2].source: there is no file "a.py"`},
		"source outside": {minimal + "  - {name: a.py, source: ../a.py}\n",
			at + `files[2].source: "../a.py" lies outside the folder or zip that holds the task`},
		"absolute source": {minimal + "  - {name: a.py, source: /etc/passwd}\n",
			at + `files[2].source: "/etc/passwd" is an absolute path`},
		"task.yml as file": {minimal + "  - {name: a.py, source: task.yml}\n",
			at + "files[2].source: task.yml itself cannot be"},
		"no source": {minimal + "  - {name: a.py}\n", at + "files[2].source: is required"},
		"no name": {minimal + "  - {source: reference.py}\n",
			at + "files[2].name: the file has an empty name"},
		"name outside": {minimal + "  - {name: ../a.py, source: reference.py}\n",
			at + "files[2].name: the file points outside"},
		"name is an option": {minimal + "  - {name: -rf, source: reference.py}\n",
			at + "files[2].name: the file has a name that starts with -"},
		"name twice": {minimal + "  - {name: reference.py, source: eval.py}\n",
			at + `files[2].name: "reference.py" appears twice (first in line 4)`},
		"no submission": {strings.Replace(minimal, `"@SUBMISSION@"`, "eval.py", 1),
			`files: no entry has the source "@SUBMISSION@"`},
		"main is no file": {minimal + "config: {main: eval.py}\n",
			at + `config.main: "eval.py" is not the name of an entry of files`},
		"no reference": {"lang: py\ndescription: x\nfiles: [{name: submission.py, source: \"@SUBMISSION@\"}]\n",
			`files: no eval program is among them, and Warpboard's own harness needs "reference.py"`},
		"template label": {minimal + "templates: {a/b: template.py}\n",
			at + "templates.a/b: a template's label has at most 40 letters"},
		"template missing": {minimal + "templates: {Python: t.py}\n",
			at + `templates.Python: there is no file "t.py"`},
		"template submission": {minimal + "templates: {Python: \"@SUBMISSION@\"}\n",
			at + "templates.Python: must be the path of a file"},
		"tag in capitals": {minimal + "tags: [Reduction]\n",
			at + `tags[0]: "Reduction" is not a tag: one has at most 24 lower case letters`},
		"tag of two words": {minimal + "tags: [a b]\n", at + `tags[0]: "a b" is not a tag`},
		"long tag":         {minimal + "tags: [" + strings.Repeat("a", 25) + "]\n", at + "tags[0]: "},
		"problem of two words": {minimal + "problem: vector add\n",
			at + `problem: "vector add" is not a problem's name`},
		"list of problems": {minimal + "problem: [vectoradd]\n", at + "problem: "},
		"tag twice":        {minimal + "tags: [scan, scan]\n", at + `tags[1]: "scan" appears twice`},
		"too many tags": {minimal + "tags: [a, b, c, d, e, f, g, h, i]\n",
			at + "tags: has 9 tags; at most 8 are allowed"},
		"library": {minimal + "libraries: [\"-lm\"]\n",
			at + `libraries[0]: "-lm" is not a library's name`},
		"gpu twice":  {minimal + "gpus: [T4, T4]\n", at + `gpus[1]: "T4" appears twice`},
		"gpu name":   {minimal + "gpus: [\"<b>\"]\n", at + `gpus[0]: "<b>" is not a device's name`},
		"empty item": {minimal + "gpus: [\"\"]\n", at + "gpus[0]: is empty"},
		"no word for sanitize": {minimal + "sanitize: true\n",
			at + `sanitize: "true" is not allowed; it is one of optional, required`},
		"sanitize without tests": {minimal + "sanitize: required\n",
			at + "sanitize: compute-sanitizer checks the tests, and there are none"},
		"sanitize on a CPU": {strings.Replace(cpp(""), "lang: cpp,",
			"lang: cpp, sanitize: required, tests: [{size: 2}],", 1),
			"sanitize: compute-sanitizer checks kernels on a GPU"},
		"library on a CPU": {strings.Replace(cpp(""), "lang: cpp,", "lang: cpp, library: refuse,", 1),
			"library: which kernels ran is known from the profile, and a run on a CPU has none"},
		"library without profile": {minimal + "library: refuse\nprofile: false\n",
			at + "library: which kernels ran is known from the profile, and this task has none"},
		"library on several": {minimal + "library: refuse\nmulti_gpu: true\ntests: [{world_size: 2}]\n",
			"library: which kernels ran is known from the profile, and this task has none"},
		"library of another kind": {minimal + "library: cublas\n",
			at + `library: "cublas" is not allowed; it is one of allow, refuse`},
		"sanitize on several": {minimal + "sanitize: required\nmulti_gpu: true\ntests: [{world_size: 2}]\n",
			"sanitize: a task on several GPUs cannot be checked"},
		"world size": {minimal + "multi_gpu: true\ntests: [{world_size: 2}, {size: 3}]\n",
			"task.yml:7: tests[1]: multi_gpu needs world_size"},
		"other world size": {minimal + "multi_gpu: true\ntests: [{world_size: 2}, {world_size: 4}]\n",
			"task.yml:7: tests[0]: world_size is 2, and elsewhere 4"},
		"too many ranks": {minimal + "multi_gpu: true\ntests: [{world_size: 17}]\n",
			"on the same number of GPUs, at most 16"},
		"ranks in C++": {strings.Replace(cpp(""), "lang: cpp,",
			"lang: cpp, multi_gpu: true, tests: [{world_size: 2}],", 1),
			"multi_gpu: Warpboard's harness runs Python tasks on several GPUs"},
		"roofline syntax": {minimal + "roofline: {bytes: 2 *}\n",
			at + `roofline.bytes: "2 *" ends where a number or a name is expected`},
		"roofline name": {minimal + "benchmarks: [{n: 1}]\nroofline: {flops: m}\n",
			`task.yml:7: roofline.flops: fails on benchmarks[0]`},
		"define":      {cpp("defines: {a-b: 1}"), `config.defines.a-b: "a-b" is not an identifier`},
		"define list": {cpp("defines: {A: [1]}"), "config.defines.A: must be one value"},
		"flag":        {cpp("compile_flags: [O2]"), `config.compile_flags[0]: "O2" is not a flag`},
		"flag that loads code": {cpp("compile_flags: [-O2, -fplugin=/x.so]"),
			`config.compile_flags[1]: "-fplugin=/x.so" is not among the flags that a C++ task may set: -O…, `},
		"source not a file": {cpp("sources: [x.cpp]"),
			`config.sources[0]: "x.cpp" is not the name of an entry of files`},
		"include dir":             {cpp("include_dirs: [-I/]"), `config.include_dirs[0]: "-I/" cannot be a folder`},
		"own harness, no sources": {`{lang: cu, description: x, files: [{name: eval.cu, source: eval.cu}, {name: s.cu, source: "@SUBMISSION@"}]}`, "config.sources: is required"},
		"further in a folder":     {further("a/x.h"), `submission_files[0]: "a/x.h" is not a file name or pattern`},
		"further with a dot":      {further(".x.h"), `submission_files[0]: ".x.h" is not a file name or pattern`},
		"further of another kind": {further("x.so"), `submission_files[0]: "x.so" must end in one of .h, .hpp`},
		"further of the task": {further("Task.h"),
			`submission_files[0]: "Task.h" has the name of a file of the task`},
		"further of the harness": {further("warpboard_answer.h"),
			`submission_files[0]: "warpboard_answer.h" has the name of a file of Warpboard's harness`},
		"further of own program": {minimal + "  - {name: eval.py, source: eval.py}\nsubmission_files: [a.py]\n",
			"task.yml:7: submission_files: a Python task with an eval program of its own takes no further files"},
		"main key in cpp": {cpp("main: x"), "config.main: unknown key"},
		"harness": {minimal + "harness: kernelbot\n",
			at + `harness: "kernelbot" is not allowed; it is one of own, warpboard`},
		"no harness of its own": {minimal + "harness: own\n", at + "harness: files has no eval program"},
		"no reference to call": {strings.Replace(minimal, "reference.py", "eval.py", 2) + "harness: warpboard\n",
			at + `harness: Warpboard's harness cannot be used: `},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := task(t, c.yaml)
			wantError(t, err, c.want)
			if !strings.HasPrefix(err.Error(), "task.yml") {
				t.Errorf("the error does not name the file: %v", err)
			}
		})
	}
}

func cpp(config string) string {
	return `{lang: cpp, description: x, config: {` + config +
		`}, files: [{name: task.h, source: task.h}, {name: reference.h, source: reference.h}, {name: s.cpp, source: "@SUBMISSION@"}]}`
}

func further(name string) string {
	return strings.Replace(cpp(""), "{", "{submission_files: ["+name+"], ", 1)
}

func TestOneReadingTellsEveryProblem(t *testing.T) {
	_, err := task(t, minimal+"ranking_by: best\nseed: x\nextra: 1\n")
	problems := parse.ProblemsFromError(err)
	var keys []string
	for _, p := range problems {
		keys = append(keys, p.Key)
	}
	if diff := cmp.Diff([]string{"extra", "ranking_by", "seed"}, keys); diff != "" {
		t.Errorf("keys with problems (-want +got):\n%s", diff)
	}
}

func TestTaskThatStoresTooMuchIsRefused(t *testing.T) {
	content := files{"task.yml": minimal + "  - {name: a, source: a}\n  - {name: b, source: b}\n", "reference.py": ""}
	content["a"] = strings.Repeat("x", 3<<20)
	content["b"] = strings.Repeat("y", 2<<20)
	_, err := readZip(zipped(t, content))
	wantError(t, err, `task.yml:7: files[3].source: with "b" the task's files exceed 4 MiB, the limit of one task`)
}

func TestSourceThatIsNotTextIsRefused(t *testing.T) {
	_, err := readZip(zipped(t, files{"task.yml": minimal, "reference.py": "\xff\xfe"}))
	wantError(t, err, `task.yml:4: files[0].source: "reference.py" is not UTF-8 text`)
}

func TestRequirementsAreRefusedAtTheirKeys(t *testing.T) {
	for yaml, want := range map[string]string{
		`require: [torch, "torch[all]"]`:               `require[1]: "torch[all]" has extras`,
		`require: [{torch: 2}]`:                        "require[0]: must be",
		`require: torch`:                               "require: must be a list",
		"require: [" + strings.Repeat("a, ", 21) + "]": "require: at most 20 packages can be required, and these are 21",
	} {
		_, err := task(t, minimal+yaml+"\n")
		wantError(t, err, want)
	}
	b := mustTask(t, minimal+`require: ["NVIDIA_cutlass_dsl >= 4", torch]`+"\n")
	if got := again(t, b).Definition.RequiredPackages.String(); got != "nvidia-cutlass-dsl>=4 torch" {
		t.Errorf("read back: %q", got)
	}
}

func TestToleranceThatCannotBeIsRefusedAtItsKey(t *testing.T) {
	for yaml, want := range map[string]string{
		"tolerance: {matched: 0}":                     "tolerance.matched: must be above 0, and 1 at most",
		"tolerance: {matched: 1e-300}":                "tolerance.matched: must be at least 0.01",
		"tolerances: {y: {matched: 0.009}}":           "tolerances.y.matched: must be at least 0.01",
		"tolerance: {atol: -1}":                       "tolerance.atol: must not be negative",
		"tolerance: {atol: 1e308}":                    "tolerance.atol: must be 1000000 at most",
		"tolerance: {rtol: inf}":                      "tolerance.rtol: must be 1000000 at most",
		"tolerance: {max_error: nan}":                 "tolerance.max_error: must not be negative",
		"tolerance: {rtol: [1]}":                      "tolerance.rtol: must be a number",
		"tolerance: {infinite: some}":                 `tolerance.infinite: "some" is not allowed`,
		"tolerances: {y: {max_eror: 1}}":              "tolerances.y.max_eror: unknown key",
		"tolerance: {}\nconfig: {main: reference.py}": "tolerance: needs Warpboard's harness",
	} {
		_, err := task(t, minimal+yaml+"\n")
		wantError(t, err, want)
	}
	_, err := task(t, strings.Replace(minimal, "lang: py", "lang: cpp", 1)+"tolerance: {}\n")
	wantError(t, err, "tolerance: is for Python tasks")
	b := mustTask(t, minimal+"tolerance: {atol: 1e-3}\ntolerances: {\"0\": {rtol: 0, equal_nan: true}}\n")
	if got := b.Definition.Tolerance; *got.ATol != 1e-3 || got.RTol != nil || *got.ByOutput["0"].RTol != 0 || !*got.ByOutput["0"].EqualNaN {
		t.Errorf("%+v", got)
	}
	if got := b.Definition.Tolerance.String(); got != "atol 0.001; 0: rtol 0.0, equal_nan true" {
		t.Errorf("it is shown as %q", got)
	}
	if got := strings.Join(b.Warnings, "\n"); !strings.Contains(got, "check_implementation, which alone decides") || strings.Contains(got, "ref_kernel") {
		t.Errorf("beside a checker: %q", got)
	}
	read, err := readZip(zipped(t, files{"task.yml": minimal + "tolerance: {}\n", "reference.py": "def generate_input(): pass\n"}))
	if err != nil || !strings.Contains(strings.Join(read[0].Warnings, "\n"), "reference.py has no ref_kernel") {
		t.Errorf("without ref_kernel: %v, %v", read, err)
	}
}
