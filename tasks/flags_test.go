package tasks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
	"warpboard/tasks/parse"
)

var flagTests = []struct {
	flags string // separated by spaces
	lang  tasks.Lang
	want  string // accepted flags; "" if one is refused
}{
	{"-O2 -ffast-math -march=x86-64-v3 -fopenmp -funroll-loops -DN=4 -UNDEBUG -std=c++17 -Wall -g -lm", tasks.LangCPP,
		"-O2 -ffast-math -march=x86-64-v3 -fopenmp -funroll-loops -DN=4 -UNDEBUG -std=c++17 -Wall -g -lm"},
	{"--use_fast_math -lineinfo --maxrregcount 64 -Xptxas -dlcm=cg -Xcompiler=-O3,-fopenmp -rdc=true -gencode arch=compute_90a,code=sm_90a -t 4", tasks.LangCUDA,
		"--use_fast_math -lineinfo --maxrregcount=64 -Xptxas=-dlcm=cg -Xcompiler=-O3,-fopenmp -rdc=true -gencode=arch=compute_90a,code=sm_90a -t=4"},
	{"--expt-relaxed-constexpr -Xptxas=-v,--allow-expensive-optimizations=true", tasks.LangCUDA,
		"--expt-relaxed-constexpr -Xptxas=-v,--allow-expensive-optimizations=true"},
	{"-fplugin=/tmp/x.so", tasks.LangCPP, ""},
	{"-B/tmp", tasks.LangCPP, ""},
	{"-specs=/tmp/x", tasks.LangCPP, ""},
	{"--specs=/tmp/x", tasks.LangCPP, ""},
	{"-wrapper /bin/sh", tasks.LangCPP, ""},
	{"@/tmp/flags", tasks.LangCPP, ""},
	{"-o /out/other", tasks.LangCPP, ""},
	{"-include /etc/passwd", tasks.LangCPP, ""},
	{"-I/etc", tasks.LangCPP, ""},
	{"-Wl,-T,/tmp/script", tasks.LangCPP, ""},
	{"-Wa,--listing=/tmp/x", tasks.LangCPP, ""},
	{"-fdump-tree-all", tasks.LangCPP, ""},
	{"-fprofile-generate", tasks.LangCPP, ""},
	{"-save-temps", tasks.LangCPP, ""},
	{"-x none", tasks.LangCPP, ""},
	{"/etc/passwd", tasks.LangCPP, ""},
	{"--compiler-bindir /tmp", tasks.LangCUDA, ""},
	{"-ccbin=/tmp", tasks.LangCUDA, ""},
	{"-Xcompiler=-fplugin=/tmp/x.so", tasks.LangCUDA, ""},
	{"-Xcompiler -O3,-B/tmp", tasks.LangCUDA, ""},
	{"-Xlinker=-T/tmp/script", tasks.LangCUDA, ""},
	{"-Xptxas=-o,/tmp/x", tasks.LangCUDA, ""},
	{"-Xptxas=--options-file=x", tasks.LangCUDA, ""},
	{"-Xptxas", tasks.LangCUDA, ""},
	{"--options-file x", tasks.LangCUDA, ""},
	{"-optf=x", tasks.LangCUDA, ""},
	{"--keep-dir=/tmp", tasks.LangCUDA, ""},
	{"--run", tasks.LangCUDA, ""},
}

func TestFlagsThatLoadWriteOrStartSomethingAreRefused(t *testing.T) {
	for _, tt := range flagTests {
		t.Run(tt.flags, func(t *testing.T) {
			got, err := tasks.CheckCompileFlags(tt.lang, strings.Fields(tt.flags))
			if (err != nil) != (tt.want == "") {
				t.Fatalf("got %q, %v; want %q", got, err, tt.want)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// taskYAMLWithFlags returns a task.yml in lang with compile flags, the first of them in line 6.
func taskYAMLWithFlags(lang tasks.Lang, flags ...string) string {
	reference := map[tasks.Lang]string{tasks.LangCPP: "reference.h", tasks.LangCUDA: "reference.cuh"}[lang]
	var yaml strings.Builder
	fmt.Fprintf(&yaml, `lang: %s
description: Add.
files: [{name: task.h, source: task.h}, {name: %[2]s, source: %[2]s}, {name: s.%[1]s, source: "@SUBMISSION@"}]
config:
  compile_flags:
`, lang, reference)
	for _, flag := range flags {
		fmt.Fprintf(&yaml, "  - %q\n", flag)
	}
	return yaml.String()
}

func TestTaskYAMLMaySetTheFlagsThatABuildAccepts(t *testing.T) {
	for _, tt := range flagTests {
		t.Run(tt.flags, func(t *testing.T) {
			flags := strings.Fields(tt.flags)
			b, err := task(t, taskYAMLWithFlags(tt.lang, flags...))
			if tt.want == "" {
				wantError(t, err, "config.compile_flags[")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(flags, b.Definition.Config.CompileFlags); diff != "" {
				t.Errorf("flags are not kept as written (-want +got):\n%s", diff)
			}
		})
	}
}

func TestForbiddenFlagIsRefusedByLineKeyAndWhatIsAllowed(t *testing.T) {
	const (
		forCPP  = "is not among the flags that a C++ task may set: -O…, -g…, -std=…"
		forCUDA = "is not among the flags that a CUDA task may set: nvcc's own for generating code, such as -use_fast_math"
	)
	tests := map[string]struct {
		lang  tasks.Lang
		flags []string
		want  []string // prefix of each problem
	}{
		"plugin": {tasks.LangCPP, []string{"-O2", "-fplugin=/x.so"},
			[]string{`task.yml:7: config.compile_flags[1]: "-fplugin=/x.so" ` + forCPP}},
		"nvcc's flag for g++": {tasks.LangCPP, []string{"-O2", "--maxrregcount=64"},
			[]string{`task.yml:7: config.compile_flags[1]: "--maxrregcount=64" ` + forCPP}},
		"g++'s through nvcc": {tasks.LangCUDA, []string{"-O3", "-Xcompiler=-B/tmp"},
			[]string{`task.yml:7: config.compile_flags[1]: "-Xcompiler=-B/tmp" ` + forCUDA}},
		"value of its own": {tasks.LangCUDA, []string{"-t", "4", "-Xptxas", "-o"},
			[]string{`task.yml:8: config.compile_flags[2]: "-Xptxas=-o" ` + forCUDA}},
		"value that is missing": {tasks.LangCUDA, []string{"--maxrregcount"},
			[]string{`task.yml:6: config.compile_flags[0]: "--maxrregcount" ` + forCUDA}},
		"every one is told": {tasks.LangCUDA, []string{"-o", "/out/x", ""}, []string{
			`task.yml:8: config.compile_flags[2]: is empty`, `task.yml:6: config.compile_flags[0]: "-o" ` + forCUDA,
			`task.yml:7: config.compile_flags[1]: "/out/x" is not a flag; flags start with -`,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := task(t, taskYAMLWithFlags(tt.lang, tt.flags...))
			problems := parse.ProblemsFromError(err)
			if len(problems) != len(tt.want) {
				t.Fatalf("problems are\n%v\nwant %d", err, len(tt.want))
			}
			for i, want := range tt.want {
				if got := problems[i].Error(); !strings.HasPrefix(got, want) {
					t.Errorf("problem %d is\n%s\nwant it to begin with\n%s", i, got, want)
				}
			}
		})
	}
}
