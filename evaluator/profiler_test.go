package evaluator_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/nsight"
	"warpboard/evaluator/profiling"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/test/tier"
)

// installNCU installs a fake ncu and its pages into a directory. For each order, it creates a file of this name, which
// changes the behavior of the fake.
func installNCU(t *testing.T, orders ...string) nsight.Tool {
	t.Helper()
	dir := t.TempDir()
	pages, err := filepath.Glob("ncu/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range pages {
		data, err := os.ReadFile(file)
		if err == nil {
			name := strings.Replace(filepath.Base(file), "ncu.sh", "ncu", 1)
			err = os.WriteFile(filepath.Join(dir, name), data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, order := range orders {
		if err := os.WriteFile(filepath.Join(dir, order), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tool, err := nsight.FindTool(t.Context(), nsight.SearchPaths{PathVariable: dir})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// profilingConfig returns the configuration of a worker with everything real except the GPU and ncu.
func profilingConfig(t *testing.T, orders ...string) evaluator.Config {
	var box toolchain.ProcessRunner
	cfg := realConfigWith(t, func(r toolchain.ProcessRunner) toolchain.ProcessRunner { box = r; return r })
	cfg.Slots = []device.Slot{{Device: "H200", Name: "NVIDIA H200", Arch: "90"}}
	cfg.Profiler = &profiling.Nsight{Tool: installNCU(t, orders...), Runner: box}
	return cfg
}

func profileJob(t *testing.T, id string) job.Job {
	j := example(t, vectorAdd, id, job.ModeProfile, solution(t, vectorAdd, true))
	j.Device = "H200"
	j.Task.Benchmarks = j.Task.Benchmarks[:2]
	return j
}

// announcing returns a submission that prints, in every second call, ncu's messages for the given number of launches:
// the judge profiles that call, after one that is not profiled. It leaves PTX where Triton would.
func announcing(launches int) []byte {
	return append([]byte("#include <cstring>\n#include <sys/stat.h>\n"), kernel(fmt.Sprintf(`static int calls = 0;
    if (const char* cache = getenv("TRITON_CACHE_DIR"); cache && calls == 0) {
        char path[1024];
        snprintf(path, sizeof path, "%%s/KEY/k.ptx", cache);
        for (char* end = path; (end = strchr(end + 1, '/')); *end = '/') *end = 0, mkdir(path, 0755);
        FILE* ptx = fopen(path, "w");
        fputs(".version 8.0\n.entry reduce_shared(\n)\n{\n  ret;\n}\n", ptx);
        fclose(ptx);
    }
    for (int i = 0; calls %% 2 == 1 && i < %d; ++i) printf("==PROF== Profiling \"k\" - %%d: 0%%%%....50%%%%....100%%%% - 40 passes\n", i);
    fflush(stdout);
    if (++calls %% 2 == 0) usleep(100000); // as replays do`, launches))...)
}

func TestEveryBenchmarkCaseIsProfiledInTheSandbox(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s := newSite(t)
	s.start(profilingConfig(t))
	if !s.beat("w1").Slots[0].CanProfile {
		t.Error("the heartbeat does not say that the slot can profile")
	}
	one := []string{"profile.0.json.gz", "profile.0.ncu-rep.gz", "profile.1.json.gz", "profile.1.ncu-rep.gz"}
	for name, c := range map[string]struct {
		launches int // launches per case; the fake's report has four in two cases
		files    []string
		kernels  string // kernels of the second case
	}{
		"in one process": {2,
			[]string{"profile.0.json.gz", "profile.1.json.gz", "profile.0-1.ncu-rep.gz"},
			"[transpose_strided reduce_shared]"},
		"one by one, nothing was announced":         {0, one, "[saxpy matmul_naive transpose_strided reduce_shared]"},
		"one by one, the submission announces, too": {3, one, "[saxpy matmul_naive transpose_strided reduce_shared]"},
	} {
		j := profileJob(t, name)
		j.Sources = maps.Clone(j.Sources)
		j.Sources["submission.cpp"] = append(announcing(c.launches), "// __global__ void reduce_shared(float*)\n"...)
		r := s.run(j)
		wantStages(t, r, "build pass", "profile pass")
		if r.Outcome != job.OutcomePassed || r.ScoreNS != nil {
			t.Fatalf("%s: outcome %s, score %v, failure %+v", name, r.Outcome, r.ScoreNS, r.Failure)
		}
		if cases := r.Stages[1].Cases; len(cases) != 2 || cases[1].SpecLine == "" || cases[1].Status != job.StatusPass {
			t.Errorf("%s: cases: %+v", name, cases)
		} else if ran := cases[1].Kernels; "["+strings.Join(namesOf(ran), " ")+"]" != c.kernels ||
			ran[len(ran)-1].Origin != "source" || ran[0].Origin != "unknown" || ran[0].Share <= 0 {
			t.Errorf("%s: what ran: %+v", name, ran)
		}
		files := map[string][]byte{}
		var names []string
		for _, a := range r.Artifacts {
			names, files[a.Name] = append(names, a.Name), unpack(t, a.Data)
		}
		if diff := cmp.Diff(c.files, names); diff != "" {
			t.Fatalf("%s: artifacts:\n%s", name, diff)
		}
		var report ncu.Report
		if err := json.Unmarshal(files["profile.1.json.gz"], &report); err != nil {
			t.Fatal(err)
		}
		var kernels []string
		for i, k := range report.Kernels {
			if ptx := k.Source != nil && strings.Contains(k.Source.PTX,
				".entry "+k.ShortName); ptx != (k.ShortName == "reduce_shared") {
				t.Errorf("%s: PTX of %s: %v", name, k.ShortName, ptx)
			}
			if kernels = append(kernels, k.ShortName); k.ID != i || k.Source == nil || len(k.Metrics) == 0 {
				t.Errorf("%s: kernel %d is %d with %d metrics", name, i, k.ID, len(k.Metrics))
			}
		}
		if fmt.Sprint(kernels) != c.kernels || report.Version != "2025.3.1.0" {
			t.Errorf("%s: report of version %q with %s", name, report.Version, kernels)
		}
		if written := string(files[c.files[len(c.files)-1]]); written != "cuda4" { // content of the fake's report file
			t.Errorf("%s: ncu's own file holds %q", name, written)
		}
		s.wait("both cases are told", func() bool {
			reported := slices.DeleteFunc(slices.Clone(s.events),
				func(e job.Event) bool { return e.Type != job.EventCaseEnded || e.AttemptID != j.AttemptID })
			return len(reported) == 2 && reported[1].CaseCount == 2
		})
	}
}

func namesOf(kernels []job.Kernel) (names []string) {
	for _, k := range kernels {
		names = append(names, k.Name)
	}
	return names
}

func unpack(t *testing.T, packed []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAMissingProfileHasAReason(t *testing.T) {
	for name, c := range map[string]struct {
		orders []string
		change func(*job.Job, *evaluator.Config)
		want   string
	}{
		"refused":   {orders: []string{"refuse"}, want: "ERR_NVGPUCTRPERM"},
		"no kernel": {orders: []string{"empty"}, want: "No kernel was launched"},
		"no match": {orders: []string{"unmatched"},
			change: func(j *job.Job, _ *evaluator.Config) { j.ProfileFilter = &job.ProfileFilter{Kernel: "k"} },
			want:   "No kernel matched the filter (Kernel k). These kernels ran: saxpy, matmul_naive."},
		"task says no": {change: func(j *job.Job, _ *evaluator.Config) { j.Task.DisableProfile = true },
			want: "profile: false"},
		"switched off": {change: func(_ *job.Job, cfg *evaluator.Config) { cfg.Profiler = nil },
			want: "no profiler for H200"},
	} {
		t.Run(name, func(t *testing.T) {
			s, cfg, j := newSite(t), profilingConfig(t, c.orders...), profileJob(t, "a1")
			if c.change != nil {
				c.change(&j, &cfg)
			}
			s.start(cfg)
			r := s.run(j)
			if r.Outcome != job.OutcomeFailed || r.Failure == nil || r.Failure.IsInfrastructureError ||
				!strings.Contains(r.Failure.Reason, c.want) || len(r.Artifacts) > 0 {
				t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
			}
		})
	}
}

// TestAWrongAnswerUnderTheProfilerHasNoProfile uses the real harness with the fake ncu: its judge checks the profiled
// calls.
func TestAWrongAnswerUnderTheProfilerHasNoProfile(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s, j := newSite(t), profileJob(t, "a1")
	s.start(profilingConfig(t))
	j.Sources = maps.Clone(j.Sources)
	profiled := strings.TrimSuffix(string(announcing(2)), "    return std::move(data.out);\n}\n")
	j.Sources["submission.cpp"] = []byte(profiled +
		"    if (calls == 4) data.out[0] += 1; // in the second case's profiled call\n    return std::move(data.out);\n}\n")
	r := s.run(j)
	wantStages(t, r, "build pass", "profile pass")
	cases := r.Stages[1].Cases
	if len(cases) != 2 || cases[0].Status != job.StatusPass || cases[1].Status != job.StatusError ||
		!strings.HasPrefix(cases[1].Message, "The answer was wrong under the profiler: ") {
		t.Errorf("cases: %+v", cases)
	}
	if slices.ContainsFunc(r.Artifacts, func(a job.Artifact) bool { return a.Name == "profile.1.json.gz" }) {
		t.Error("the case has a profile")
	}
}

func TestAProfileIsMadeWithItsFilter(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s := newSite(t)
	s.start(profilingConfig(t))
	j := profileJob(t, "a1")
	j.Sources = maps.Clone(j.Sources)
	j.Sources["submission.cpp"] = announcing(2)
	j.ProfileFilter = &job.ProfileFilter{Kernel: "regex:mat(mul|vec)_.*", LaunchSkip: 2, LaunchCount: 3,
		Sections: []string{"Occupancy", "SourceCounters"}}
	r := s.run(j)
	wantStages(t, r, "build pass", "profile pass")
	want := "--section Occupancy --section SourceCounters --import-source 1 --kernel-name regex:mat(mul|vec)_.* --launch-skip 2 " +
		"--nvtx --nvtx-include custom_kernel/ -c 3 --clock-control none --target-processes all -f -o /out/profile -- "
	if command := r.Stages[1].Command; !strings.Contains(command, want) {
		t.Errorf("the command is %s\nwithout %s", command, want)
	}
	if ran := r.Stages[1].Cases[0].Kernels; ran != nil {
		t.Errorf("chosen kernels are listed as what ran: %+v", ran)
	}
	// ncu counts the launches of a whole process, so each case must be profiled in a separate process.
	if !slices.ContainsFunc(r.Artifacts, func(a job.Artifact) bool { return a.Name == "profile.1.ncu-rep.gz" }) {
		t.Errorf("both cases were profiled in one process: %v", r.Artifacts)
	}
}

// TestOneBenchmarkIsProfiledUnderItsNumber requests a profile of only the second of two benchmarks.
func TestOneBenchmarkIsProfiledUnderItsNumber(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s := newSite(t)
	s.start(profilingConfig(t))
	j, second := profileJob(t, "a1"), 1
	j.ProfileFilter = &job.ProfileFilter{Benchmark: &second, Kernel: "mul", KernelNameBase: "demangled"}
	r := s.run(j)
	wantStages(t, r, "build pass", "profile pass")
	if cases := r.Stages[1].Cases; len(cases) != 1 || cases[0].Index != 1 ||
		cases[0].SpecLine != j.Task.Benchmarks[1].String() {
		t.Errorf("cases: %+v", cases)
	}
	var files []string
	for _, a := range r.Artifacts {
		files = append(files, a.Name)
	}
	if got := strings.Join(files, " "); got != "profile.1.json.gz profile.1.ncu-rep.gz" ||
		!strings.Contains(r.Stages[1].Command, " --kernel-name mul --kernel-name-base demangled ") {
		t.Errorf("files %s of %s", got, r.Stages[1].Command)
	}
	j.AttemptID, second = "a2", 2
	if r := s.run(j); r.Failure == nil ||
		!strings.Contains(r.Failure.Reason, "there is no benchmark 2: they are 0 to 1") {
		t.Errorf("a benchmark that is not there: %+v", r.Failure)
	}
}

func TestARankedRunIsNeverProfiledInItsOwnPass(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s := newSite(t)
	s.start(profilingConfig(t))
	j := profileJob(t, "a1")
	j.Mode = job.ModeRanked
	r := s.run(j)
	wantStages(t, r, "build pass", "test pass", "ranked pass")
	if r.ScoreNS == nil || len(r.Artifacts) > 0 {
		t.Errorf("score %v, artifacts %d", r.ScoreNS, len(r.Artifacts))
	}
}

func TestTheReportThatTheSiteDrawsIsTheLastToBeLeftOut(t *testing.T) {
	s, j := newSite(t), profileJob(t, "a1")
	cfg := profilingConfig(t)
	cfg.Profiler = hugeReports{cfg.Profiler}
	s.start(cfg)
	r := s.run(j)
	kept := map[string]bool{}
	for _, a := range r.Artifacts {
		kept[a.Name] = a.Data != nil
	}
	want := map[string]bool{"profile.0.json.gz": true, "profile.0.ncu-rep.gz": false, "profile.1.json.gz": true,
		"profile.1.ncu-rep.gz": true}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if note := r.Stages[1].ExtraKeys["profile.0.ncu-rep.gz"]; !strings.Contains(note, "20.0 MB (packed)") {
		t.Errorf("the stage says %s", fmt.Sprint(r.Stages[1].ExtraKeys))
	}
}
