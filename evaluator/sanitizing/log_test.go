package sanitizing

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/fuzztest"
	"warpboard/evaluator/job"
)

// compute-sanitizer 2025.3.1 wrote the files of testdata on an H100; they are shortened.
func TestLogsOfTheToolsBecomeFindings(t *testing.T) {
	for name, c := range map[string]struct {
		tool   string
		want   []job.Finding
		unread int
	}{
		"memcheck": {"memcheck", []job.Finding{{Message: "Invalid __global__ write of size 4 bytes",
			Kernel: "oob(float *, int)", File: "bad.cu", Line: 6,
			Detail: "Access is out of bounds and is 1 bytes after the nearest allocation of size 400 bytes",
			Block:  "0,0,0", Thread: "100,0,0", Occurrences: 3}}, 26},
		"misaligned": {"memcheck", []job.Finding{{Message: "Invalid __global__ write of size 4 bytes",
			Kernel: "misaligned(char *)", File: "bad.cu", Line: 18,
			Detail: "Access is misaligned and is inside the nearest allocation of size 4,096 bytes", Block: "0,0,0",
			Thread: "0,0,0", Occurrences: 1}}, 0},
		"triton": {"memcheck", []job.Finding{{Message: "Invalid __global__ read of size 16 bytes", Kernel: "add",
			File: "bad.py", Line: 5,
			Detail: "Access is out of bounds and is 1 bytes after the nearest allocation of size 4,000 bytes",
			Block:  "0,0,0", Thread: "122,0,0", Occurrences: 1}}, 777},
		"racecheck": {"racecheck", []job.Finding{{Message: "Race between a write and a read at bad.cu:11",
			Kernel: "race(float *)", File: "bad.cu", Line: 10, Occurrences: 512}}, 0},
		"initcheck": {"initcheck", []job.Finding{{Message: "Uninitialized __global__ memory read of size 4 bytes",
			Kernel: "uninit(const float *, float *)",
			File:   "bad.cu", Line: 13, Block: "0,0,0", Thread: "0,0,0", Occurrences: 2}}, 44},
		"synccheck": {"synccheck", []job.Finding{{Message: "Barrier error detected. Divergent thread(s) in warp.",
			Kernel: "sync(float *)", File: "bad.cu", Line: 15,
			Block: "0,0,0", Thread: "0,0,0", Occurrences: 3}}, 0},
		"none":    {"memcheck", nil, 0},
		"no_race": {"racecheck", nil, 0},
	} {
		text, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.want {
			c.want[i].Tool = c.tool
		}
		got := readLog(c.tool, text, []string{"bad.cu"})
		if diff := cmp.Diff(c.want, got.findings); diff != "" || !got.hasSummary || got.toolProblem != "" ||
			got.errorCount != len(c.want) || got.unprintedErrors != c.unread {
			t.Errorf("%s: ended %v, %d errors, %d unread, problem %q\n%s", name, got.hasSummary, got.errorCount, got.unprintedErrors,
				got.toolProblem, diff)
		}
	}
}

func TestAFindingStandsAtTheLineOfTheSubmission(t *testing.T) {
	const inHeader = `========= Invalid __shared__ read of size 2 bytes
=========     at __half::__half(float)+0x80 in cuda_fp16.hpp:7
=========     by thread (1,2,3) in block (4,5,6)
=========     Access at 0x10 is out of bounds
=========     Device Frame: load(int)+0x30 in tile.cuh:12
=========     Device Frame: matmul(float *)+0x10 in submission.cu:90
========= Invalid __global__ read of size 1 bytes
=========     at 0x90 in /in/submission.cu:6:old(int)
========= Warning: Race reported between Read access at sum(float *)+0xa0
=========     and Write access at sum(float *)+0xb0 [2 hazards]
========= Internal Sanitizer Error: The Sanitizer encountered an error
========= Invalid __global__ read of size 1 bytes
=========     at warpboard_open_gate+0x90
========= Invalid __global__ read of size 2 bytes
=========     at open_gate(int)+0x90 in submission.cu:7
========= Host API memory access error at host access to 0x7fd251600000 of size 4194304 bytes
=========     Invalid access at 0x7fd251600000 on access by cudaMemcpy source
========= Target application returned an error
`
	got := readLog("memcheck", []byte(inHeader), []string{"submission.cu", "tile.cuh"})
	want := []job.Finding{
		{Tool: "memcheck", Message: "Invalid __shared__ read of size 2 bytes", Detail: "Access is out of bounds",
			Kernel: "matmul(float *)", File: "tile.cuh", Line: 12, Block: "4,5,6", Thread: "1,2,3", Occurrences: 1},
		{Tool: "memcheck", Message: "Invalid __global__ read of size 1 bytes", Kernel: "old(int)",
			File: "submission.cu", Line: 6, Occurrences: 1},
		{Tool: "memcheck", Message: "Invalid __global__ read of size 2 bytes", Kernel: "open_gate(int)",
			File: "submission.cu", Line: 7, Occurrences: 1},
		{Tool: "memcheck", Message: "Host API memory access error at host access of size 4194304 bytes",
			Detail: "Invalid access on access by cudaMemcpy source", Occurrences: 1},
		{Tool: "memcheck", IsWarning: true, Message: "Race between a read and a write", Kernel: "sum(float *)", Occurrences: 2},
	}
	if diff := cmp.Diff(want, got.findings); diff != "" || got.errorCount != 4 || got.hasSummary ||
		!strings.HasPrefix(got.toolProblem, "Internal Sanitizer Error") {
		t.Errorf("ended %v, %d errors, problem %q\n%s", got.hasSummary, got.errorCount, got.toolProblem, diff)
	}
}

func TestErrorsThatCannotBeReadAreNotTakenForNothing(t *testing.T) {
	for text, errors := range map[string]int{
		"========= New words\n========= ERROR SUMMARY: 3 errors\n":                                                   1,
		"========= Program hit cudaErrorInvalidValue (error 1) on CUDA API call\n========= ERROR SUMMARY: 1 error\n": 0,
	} {
		if got := readLog("memcheck", []byte(text), nil); got.errorCount != errors || !got.hasSummary {
			t.Errorf("%q: %+v", text, got)
		}
	}
	const copies = "========= Host API memory access error at host access to 0x7f of size 4 bytes\n=========     Uninitialized access at 0x7f on access by cudaMemcpyAsync source\n"
	if got := readLog("initcheck", []byte(copies+"========= ERROR SUMMARY: 1 error\n"), nil); got.errorCount != 0 ||
		len(got.findings) != 0 {
		t.Errorf("copies of the harness: %+v", got)
	}
}

func FuzzLog(f *testing.F) {
	fuzztest.Moment(f)
	for _, name := range []string{"memcheck", "racecheck", "synccheck", "triton"} {
		text, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("=========  at \n========= Race\n=========     at x+0x1 in /:0\n=========     and Read access at \xff+0x1 in \u202e:99999999999999999999 [9999999999999999999 hazards]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := readLog("memcheck", text, []string{"bad.cu"})
		result := job.Result{Stages: []job.StageResult{{Stage: job.StageSanitize, Findings: got.findings}}}
		if err := result.Check(); err != nil || len(got.findings) > job.MaxFindings || got.unprintedErrors < 0 {
			t.Errorf("%v: %+v", err, got)
		}
		for _, f := range got.findings {
			for _, text := range []string{f.Message, f.Detail, f.Kernel, f.File, f.Block, f.Thread} {
				if !utf8.ValidString(text) || job.HasBidiControls([]byte(text)) {
					t.Errorf("%q", text)
				}
			}
		}
	})
}
