package nsight

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
)

func TestCommandProfilesTheHarnessRange(t *testing.T) {
	tool := Tool{ProgramPath: "/opt/ncu"}
	got := ProfileCommand(tool, []string{"/job/eval", "profile"}, Options{ReportPath: "/out/p.ncu-rep", MaxLaunches: 3})
	want := strings.Fields("/opt/ncu --set full --import-source 1 --nvtx --nvtx-include custom_kernel/ -c 3 " +
		"--clock-control none --target-processes all -f -o /out/p -- /job/eval profile")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	later := strings.Join(ProfileCommand(Tool{Version: "2026.3.0.0"}, nil, Options{ReportPath: "/out/p.ncu-rep"}), " ")
	if !strings.Contains(later, "-o /out/p.ncu-rep --") { // without this suffix, ncu would write a .ncu-repz file
		t.Errorf("from 2026.3 on: %s", later)
	}
	if got := strings.Join(ProfileCommand(tool, nil, Options{AllLaunches: true}), " "); strings.Contains(got, "nvtx") ||
		!strings.Contains(got, "-c 16") {
		t.Errorf("without NVTX: %s", got)
	}
}

func TestAFilterIsOnTheCommandLine(t *testing.T) {
	got := ProfileCommand(Tool{ProgramPath: "/opt/ncu"}, []string{"/job/eval"}, Options{
		ReportPath: "/out/p.ncu-rep", MaxLaunches: 32, Sections: []string{"LaunchStats"},
		Filter: &job.ProfileFilter{Kernel: "regex:mat.*; rm -rf /", LaunchSkip: 2, LaunchCount: 3,
			Sections: []string{"Occupancy", "SpeedOfLight"}}})
	want := []string{"/opt/ncu", "--section", "Occupancy", "--section", "SpeedOfLight", "--import-source", "1",
		"--kernel-name", "regex:mat.*; rm -rf /",
		"--launch-skip", "2", "--nvtx", "--nvtx-include", "custom_kernel/", "-c", "3", "--clock-control", "none",
		"--target-processes", "all", "-f", "-o", "/out/p", "--", "/job/eval"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSectionsThatNoPageShowsAreNotCollected(t *testing.T) {
	const listed = `------------------ ------------------- ------- -----------------
Identifier         Display Name        Enabled Filename
------------------ ------------------- ------- -----------------
LaunchStats        Launch Statistics   yes     LaunchStatistics.section
Nvlink_Tables      NVLink Tables       no      Nvlink_Tables.section
PmSampling         PM Sampling         no      PmSampling.section
SpeedOfLight       GPU Speed Of Light  yes     SpeedOfLight.section

`
	for name, tt := range map[string]struct {
		listed string
		want   []string
	}{
		"a list":         {listed, []string{"LaunchStats", "SpeedOfLight"}},
		"nothing":        {"", nil},
		"another format": {"==ERROR== unknown option --list-sections\nIdentifier\n", nil},
	} {
		if diff := cmp.Diff(tt.want, parseSectionList(tt.listed)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestEveryPageIsPrintedAndKept(t *testing.T) {
	dir := t.TempDir()
	tool := Tool{ProgramPath: filepath.Join(dir, "ncu of 2025")}
	if err := os.WriteFile(tool.ProgramPath, []byte("#!/bin/sh\necho \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	argv := PrintPagesCommand(tool, "/out/p q.ncu-rep", dir)
	if out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	var p ncu.CSVPages
	for _, name := range ncu.CSVPageNames() {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		p.SetPage(name, bytes.TrimSpace(text))
	}
	p.SetPage("unknown", []byte("x"))
	want := ncu.CSVPages{
		DetailsPage: []byte("--import /out/p q.ncu-rep --csv --page details"),
		RawPage:     []byte("--import /out/p q.ncu-rep --csv --page raw"),
		SourcePage:  []byte("--import /out/p q.ncu-rep --csv --page source --print-source sass"),
		SourceLines: []byte("--import /out/p q.ncu-rep --csv --page source --print-source cuda,sass"),
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

// install writes an executable that prints text and exits with the code.
func install(t *testing.T, path, text, code string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho '" + text + "'\nexit " + code + "\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFindPrefersPathThenTheNewest(t *testing.T) {
	dir := t.TempDir()
	install(t, filepath.Join(dir, "nsight/2024.1/ncu"), "Version 2024.1.0.0", "0")
	install(t, filepath.Join(dir, "nsight/2025.3/ncu"), "Version 2025.3.1.0 (build 1)", "0")
	places := SearchPaths{PathVariable: filepath.Join(dir, "none"),
		ProgramGlobs: []string{filepath.Join(dir, "nsight/*/ncu")}}
	tool, err := FindTool(t.Context(), places)
	want := Tool{ProgramPath: filepath.Join(dir, "nsight/2025.3/ncu"),
		RequiredDirs: []string{filepath.Join(dir, "nsight/2025.3")},
		Version:      "2025.3.1.0"}
	if err != nil || cmp.Diff(want, tool) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(want, tool))
	}
	install(t, filepath.Join(dir, "bin/ncu"), "Version 2023.2.0.0", "0")
	places.PathVariable, places.ExtraDirs = filepath.Join(dir, "bin"), []string{filepath.Join(dir, "nsight")}
	tool, err = FindTool(t.Context(), places)
	want = Tool{ProgramPath: filepath.Join(dir, "bin/ncu"),
		RequiredDirs: []string{filepath.Join(dir, "nsight"), filepath.Join(dir, "bin")}, Version: "2023.2.0.0"}
	if err != nil || cmp.Diff(want, tool) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(want, tool))
	}
}

func TestFindSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	if _, err := FindTool(t.Context(), SearchPaths{PathVariable: dir}); !errors.Is(err, ErrNoTool) {
		t.Errorf("no tool: %v", err)
	}
	install(t, filepath.Join(dir, "ncu"), "libfoo.so: cannot open shared object file", "127")
	if _, err := FindTool(t.Context(), SearchPaths{PathVariable: dir}); err == nil || !strings.Contains(err.Error(), "libfoo.so") {
		t.Errorf("broken tool: %v", err)
	}
}

func TestExplainGivesASentenceForEachFailure(t *testing.T) {
	for name, c := range map[string]struct {
		ended CommandResult
		want  string
	}{
		"fine": {CommandResult{HasReport: true, Output: "==PROF== done"}, ""},
		"refused": {CommandResult{
			ExitCode: 1,
			Output:   "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission",
		},
			"ERR_NVGPUCTRPERM"},
		"no kernel": {CommandResult{Output: "==WARNING== No kernels were profiled."}, "No kernel was launched"},
		"no match": {CommandResult{
			Output: "==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. saxpy\n2. tile<float>(int)\nbye\n",
			Filter: &job.ProfileFilter{Kernel: "k"},
		},
			"No kernel matched the filter (Kernel k). These kernels ran: saxpy, tile<float>(int)."},
		"no match, no list": {CommandResult{Output: "==WARNING== No kernels were profiled.\n",
			Filter: &job.ProfileFilter{LaunchSkip: 9}},
			"No kernel matched the filter (Launches from 10)."},
		"driver": {CommandResult{ExitCode: 1, Output: "==ERROR== Cuda driver is not compatible with Nsight Compute"},
			"does not fit"},
		"program": {CommandResult{ExitCode: 1, HasReport: true,
			Output: "==ERROR== The application returned an error code (11).\n"}, "failed under the profiler"},
		"slow":      {CommandResult{ExitCode: -1, ExceededLimit: "wall"}, "longer than its time limit"},
		"memory":    {CommandResult{ExitCode: -1, ExceededLimit: "memory"}, "memory limit"},
		"unknown":   {CommandResult{ExitCode: 9, Output: "first\n==ERROR== Something new\nlast"}, "exit code 9: Something new"},
		"silent":    {CommandResult{ExitCode: 9}, "it printed nothing"},
		"no report": {CommandResult{Output: "bye"}, "without writing a report: bye"},
	} {
		got := ExplainFailure(c.ended)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
