package toolchain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckFlags(t *testing.T) {
	tests := []struct {
		flags string // divided by spaces
		cuda  bool
		want  string // "" when refused
	}{
		{"-O2 -ffast-math -march=x86-64-v3 -fopenmp -funroll-loops -DN=4 -UNDEBUG -std=c++17 -Wall -g -lm", false,
			"-O2 -ffast-math -march=x86-64-v3 -fopenmp -funroll-loops -DN=4 -UNDEBUG -std=c++17 -Wall -g -lm"},
		{"--use_fast_math -lineinfo --maxrregcount 64 -Xptxas -dlcm=cg -Xcompiler=-O3,-fopenmp -rdc=true -gencode arch=compute_90a,code=sm_90a -t 4", true,
			"--use_fast_math -lineinfo --maxrregcount=64 -Xptxas=-dlcm=cg -Xcompiler=-O3,-fopenmp -rdc=true -gencode=arch=compute_90a,code=sm_90a -t=4"},
		{"--expt-relaxed-constexpr -Xptxas=-v,--allow-expensive-optimizations=true", true, "--expt-relaxed-constexpr -Xptxas=-v,--allow-expensive-optimizations=true"},
		{"-fplugin=/tmp/x.so", false, ""},
		{"-B/tmp", false, ""},
		{"-specs=/tmp/x", false, ""},
		{"--specs=/tmp/x", false, ""},
		{"-wrapper /bin/sh", false, ""},
		{"@/tmp/flags", false, ""},
		{"-o /out/other", false, ""},
		{"-include /etc/passwd", false, ""},
		{"-I/etc", false, ""},
		{"-Wl,-T,/tmp/script", false, ""},
		{"-Wa,--listing=/tmp/x", false, ""},
		{"-fdump-tree-all", false, ""},
		{"-fprofile-generate", false, ""},
		{"-save-temps", false, ""},
		{"-x none", false, ""},
		{"/etc/passwd", false, ""},
		{"--compiler-bindir /tmp", true, ""},
		{"-ccbin=/tmp", true, ""},
		{"-Xcompiler=-fplugin=/tmp/x.so", true, ""},
		{"-Xcompiler -O3,-B/tmp", true, ""},
		{"-Xlinker=-T/tmp/script", true, ""},
		{"-Xptxas=-o,/tmp/x", true, ""},
		{"-Xptxas=--options-file=x", true, ""},
		{"-Xptxas", true, ""},
		{"--options-file x", true, ""},
		{"-optf=x", true, ""},
		{"--keep-dir=/tmp", true, ""},
		{"--run", true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.flags, func(t *testing.T) {
			got, err := CheckFlags(strings.Fields(tt.flags), tt.cuda)
			if (err != nil) != (tt.want == "") {
				t.Fatalf("got %q, %v; want %q", got, err, tt.want)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzCheckFlags holds that no flag that passes names a file, a program or a list of flags.
func FuzzCheckFlags(f *testing.F) {
	f.Add("-Xcompiler=-O3,-fopenmp", true)
	f.Add("-fplugin=x", false)
	f.Add("-l:evil.a", false)
	f.Fuzz(func(t *testing.T, flag string, cuda bool) {
		got, err := CheckFlags([]string{flag}, cuda)
		if err != nil || strings.HasPrefix(flag, "-D") || strings.HasPrefix(flag, "-U") {
			return
		}
		for _, part := range strings.Split(strings.Join(got, ","), ",") {
			if strings.ContainsAny(part, "/@ \n\x00") && !strings.Contains(flag, ",-D") && !strings.Contains(flag, "=-D") &&
				!strings.Contains(flag, ",-U") && !strings.Contains(flag, "=-U") {
				t.Errorf("%q passed as %q", flag, got)
			}
			if strings.Contains(part, "plugin") && strings.HasPrefix(part, "-fplugin") {
				t.Errorf("%q passed", flag)
			}
		}
	})
}
