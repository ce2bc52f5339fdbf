package toolchain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/sandbox"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

func TestCUDACommandsAreThoseOfTheOriginal(t *testing.T) {
	value := "a b"
	def := tasks.Definition{
		Lang: tasks.LangCUDA, HasOwnHarness: true, Libraries: []string{"cuda", "cublas"},
		Files: []tasks.File{{Name: "submission.cu", Source: tasks.SubmissionSource}},
		Config: tasks.BuildConfig{
			Sources: []string{"eval.cu", "submission.cu"}, IncludeDirs: []string{"/ThunderKittens/include", "cutlass"},
			Defines:      []tasks.Define{{Name: "FAST"}, {Name: "TITLE", Value: &value}},
			CompileFlags: []string{"-Xptxas", "-O2"},
		},
	}
	libraries := map[string]string{"ThunderKittens": t.TempDir(), "CUTLASS": t.TempDir()}
	b := NewBuilder(Config{Toolchain: Toolchain{NVCC: &Tool{Path: "/opt/cuda/bin/nvcc", Version: "13.0"}},
		Libraries: libraries})
	p, err := b.newPlan(def, harness.AssembleSources(def, nil), "90")
	if err != nil {
		t.Fatal(err)
	}
	flags := "/opt/cuda/bin/nvcc --std=c++20 -DNDEBUG -Xcompiler=-Wno-psabi -Xcompiler=-fno-strict-aliasing --expt-extended-lambda " +
		"--expt-relaxed-constexpr -forward-unknown-to-host-compiler -O3 -Xptxas=--verbose -Xptxas=--warn-on-spills -lineinfo -Xptxas=-O2 " +
		"-DFAST '-DTITLE=a b' -I/libraries/ThunderKittens/include -I/libraries/CUTLASS -gencode=arch=compute_90a,code=sm_90a "
	want := flags + "-c eval.cu -o 0.o\n" + flags + "-c submission.cu -o 1.o\n" + flags +
		"0.o 1.o -Xnvlink=--verbose -lcuda -lcublas -o /out/program"
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(p.String(), "\n")); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	mounts := []sandbox.Mount{
		{HostPath: libraries["ThunderKittens"], InsidePath: "/libraries/ThunderKittens"},
		{HostPath: libraries["CUTLASS"], InsidePath: "/libraries/CUTLASS"},
		{HostPath: "/opt/cuda", InsidePath: "/opt/cuda"},
	}
	if diff := cmp.Diff(mounts, p.mounts); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}

func TestThunderKittensIsOnThePathOfCUDATasksWhereTheWorkerHasIt(t *testing.T) {
	cuda := tasks.Definition{Lang: tasks.LangCUDA,
		Files: []tasks.File{{Name: "submission.cu", Source: tasks.SubmissionSource}}}
	cpp := tasks.Definition{Lang: tasks.LangCPP,
		Files: []tasks.File{{Name: "submission.cpp", Source: tasks.SubmissionSource}}}
	has := map[string]string{"thunderkittens": t.TempDir()}
	for name, c := range map[string]struct {
		def       tasks.Definition
		libraries map[string]string
		want      bool
	}{
		"CUDA": {cuda, has, true}, "C++": {cpp, has, false},
		"a worker without it": {cuda, map[string]string{"cutlass": t.TempDir()}, false},
	} {
		b := NewBuilder(Config{Toolchain: Toolchain{NVCC: &Tool{Path: "/cuda/nvcc"},
			GPP: &Tool{Path: "/usr/bin/g++"}}, Libraries: c.libraries})
		p, err := b.newPlan(c.def, harness.AssembleSources(c.def, nil), "90")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(p.String(), "-I/libraries/thunderkittens/include"); got != c.want {
			t.Errorf("%s: on the path: %t, want %t:\n%s", name, got, c.want, p)
		}
	}
}

func TestArchFlags(t *testing.T) {
	for arch, want := range map[string]string{
		"": "-arch=native", "75": "-gencode=arch=compute_75,code=sm_75",
		"90": "-gencode=arch=compute_90a,code=sm_90a", "100": "-gencode=arch=compute_100a,code=sm_100a",
	} {
		if got := nvccArchFlag(arch); got != want {
			t.Errorf("%q: got %s, want %s", arch, got, want)
		}
	}
	for arch, want := range map[string]string{"75": "7.5", "90": "9.0a", "100": "10.0a", "native": "native"} {
		if got := torchArchList(arch); got != want {
			t.Errorf("torch, %q: got %s, want %s", arch, got, want)
		}
	}
}

func TestPlanRefusesWhatReachesTheCompiler(t *testing.T) {
	tests := []struct {
		name   string
		change func(*tasks.Definition)
	}{
		{"library that is a flag", func(d *tasks.Definition) { d.Libraries = []string{"-Tscript"} }},
		{"library that is a path", func(d *tasks.Definition) { d.Libraries = []string{"../x"} }},
		{"define that is a flag", func(d *tasks.Definition) { d.Config.Defines = []tasks.Define{{Name: "A -B/tmp"}} }},
		{"flag that loads code", func(d *tasks.Definition) {
			d.Config.CompileFlags = []string{"-O2",
				"-fplugin=/tmp/x.so"}
		}},
		{"include outside", func(d *tasks.Definition) { d.Config.IncludeDirs = []string{"/etc"} }},
		{"include that climbs", func(d *tasks.Definition) { d.Config.IncludeDirs = []string{"lib/../../etc"} }},
	}
	b := NewBuilder(Config{Toolchain: Toolchain{GPP: &Tool{Path: "/usr/bin/g++"}},
		Libraries: map[string]string{"lib": t.TempDir()}})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			def := tasks.Definition{Lang: tasks.LangCPP}
			tt.change(&def)
			if p, err := b.newPlan(def, harness.SourceSet{}, ""); err == nil {
				t.Errorf("got %s", p)
			}
		})
	}
}

func TestIncludeLibraryIsFoundByItsName(t *testing.T) {
	tier.Needs(t, tier.Judge)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "include"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "include", "twice.h"),
		[]byte("inline float twice(float x) { return 2 * x; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := newBuilder()
	b.cfg.Libraries = map[string]string{"Helpers": dir}
	j := cppJob(t, "correct.cpp")
	j.Task.Config.IncludeDirs = []string{"/helpers/include"}
	j.Sources["submission.cpp"] = append([]byte("#include <twice.h>\n"), j.Sources["submission.cpp"]...)
	mustBuild(t, b, j)
}

func TestPtxasFacts(t *testing.T) {
	stderr := `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z3addPf' for 'sm_90a'
ptxas info    : Function properties for _Z3addPf
    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 8192 bytes smem, 528 bytes cmem[0]
ptxas info    : Compiling entry function '_Z3mulPf' for 'sm_90a'
ptxas info    : Used 8 registers, used 0 barriers
`
	want := map[string]string{
		"ptxas._Z3addPf.registers": "32", "ptxas._Z3addPf.smem": "8192", "ptxas._Z3addPf.stack": "16",
		"ptxas._Z3addPf.spill_stores": "8", "ptxas._Z3addPf.spill_loads": "4", "ptxas._Z3mulPf.registers": "8",
	}
	if diff := cmp.Diff(want, ptxasFacts(stderr)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}
