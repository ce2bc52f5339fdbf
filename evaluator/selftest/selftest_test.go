package selftest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/nsight"
	"warpboard/evaluator/toolchain"
)

func TestASlotCompilesAndRunsWhatItsMachineClaims(t *testing.T) {
	compiler := &toolchain.Tool{Path: "/usr/bin/x"}
	python := func(names ...string) *toolchain.Python {
		p := &toolchain.Python{Packages: map[string]string{}}
		for _, name := range names {
			p.Packages[name] = "1"
		}
		return p
	}
	for name, test := range map[string]struct {
		device string
		tools  toolchain.Toolchain
		want   string
	}{
		"CPU": {"CPU",
			toolchain.Toolchain{GPP: compiler, NVCC: compiler, Python: python("numpy", "torch")}, "C++, NumPy"},
		"CPU without NumPy": {"CPU", toolchain.Toolchain{GPP: compiler, Python: python()}, "C++"},
		"GPU": {"H200",
			toolchain.Toolchain{GPP: compiler, NVCC: compiler, Python: python("numpy", "torch", "triton")},
			"CUDA C++, torch and Triton"},
		"GPU without Triton":      {"H200", toolchain.Toolchain{Python: python("torch")}, "torch"},
		"a machine without tools": {"H200", toolchain.Toolchain{}, ""},
	} {
		programs, err := Programs(device.Slot{Device: test.device}, test.tools)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range programs {
			names = append(names, p.Name)
			if p.Job.Mode != job.ModeBenchmark || len(p.Job.Sources) < 3 || p.Job.Device != test.device {
				t.Errorf("%s: the job of %s is %+v", name, p.Name, p.Job)
			}
		}
		if got := strings.Join(names, ", "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func ended(event, wallTime float64) job.Result {
	return job.Result{Outcome: job.OutcomePassed,
		Stages: []job.StageResult{{Stage: job.StageBenchmark, Status: job.StatusPass,
			Cases: []job.CaseResult{{ClockTimes: job.ClockTimes{CountedClock: job.ClockEvent, EventTime: event,
				WallTime: wallTime}}}}}}
}

func TestAFailedProgramNamesTheProblemAndTheRemedy(t *testing.T) {
	p := Program{Name: "NumPy", fix: "See that it imports"}
	failed := job.Result{Outcome: job.OutcomeFailed, Failure: &job.Failure{Reason: "It does not compile."},
		Stages: []job.StageResult{{Stage: job.StageBuild, Status: job.StatusFail, Stderr: "no such\nfile"}}}
	for name, test := range map[string]struct {
		result job.Result
		err    error
		want   string // "" for a pass
	}{
		"passed":                 {result: ended(1e6, 1.1e6)},
		"busy machine":           {result: ended(1e6, 9e6)},
		"runner's clock is fast": {ended(9e6, 1e6), nil, "clocks of judge and runner disagree"},
		"wrong unit":             {ended(1e3, 1e9), nil, "clocks of judge and runner disagree"},
		"does not compile": {failed, nil,
			"NumPy: a small known program failed in its build stage: It does not compile. no such file. See that it imports"},
		"sandbox": {job.Result{}, errors.New("no bubblewrap"),
			"NumPy: no bubblewrap. See that it imports"},
	} {
		err := p.Error(test.result, test.err)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func profiled(t *testing.T, value func(i int) string) job.Result {
	t.Helper()
	kernel := ncu.Kernel{Metrics: map[string]ncu.Metric{"launch__grid_size": ncu.NewMetric("4", "")}}
	for i, name := range []string{"sm__cycles_active.avg", "dram__bytes_read.sum", "l1tex__t_bytes.sum",
		"smsp__inst_executed.sum"} {
		kernel.Metrics[name] = ncu.NewMetric(value(i), "")
	}
	text, err := json.Marshal(ncu.Report{Kernels: []ncu.Kernel{kernel}})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(text)
	w.Close()
	return job.Result{Outcome: job.OutcomePassed,
		Artifacts: []job.Artifact{{Name: "profile.0.json.gz", Data: packed.Bytes()}}}
}

func TestAnNCUWithoutCountersIsRefusedAndAnotherAskedFor(t *testing.T) {
	tool := nsight.Tool{ProgramPath: "/usr/bin/ncu", Version: "2026.1.0.0"}
	locked := job.Result{Outcome: job.OutcomeFailed, Failure: &job.Failure{
		Reason: nsight.ExplainFailure(nsight.CommandResult{
			ExitCode: 9,
			Output:   "==ERROR== Driver resource was unavailable",
		})}}
	for name, test := range map[string]struct {
		result job.Result
		want   []string
	}{
		"counts":         {profiled(t, func(int) string { return "17" }), nil},
		"one is missing": {profiled(t, func(i int) string { return []string{"nan", "1", "2", "3"}[i] }), nil},
		"NaN": {profiled(t, func(int) string { return "nan" }),
			[]string{"Nsight Compute 2026.1.0.0 (/usr/bin/ncu) has no value for 4 of 4 counters", "--ncu PATH"}},
		"DCGM":      {locked, []string{"DCGM", "dcgmi profile --pause"}},
		"no report": {job.Result{Outcome: job.OutcomePassed}, []string{"has no report"}},
	} {
		err := Program{Name: "CUDA C++"}.ProfileError(tool, test.result, nil)
		if (err == nil) != (test.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range test.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v lacks %q", name, err, want)
			}
		}
	}
}
