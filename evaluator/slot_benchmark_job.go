package evaluator

import (
	"crypto/rand"
	"embed"
	"fmt"
	"math"
	"strconv"
	"time"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

//go:embed slotbench
var slotBenchmarkPrograms embed.FS

// Work in one call of each kernel.
const (
	cpuReadKernelFloats = 4 << 20   // read
	gpuReadKernelFloats = 256 << 20 // read: 1 GiB, far more than a cache holds
	cpuMathKernelFlops  = 2 * 64 * (1 << 20)
	gpuMathKernelFlops  = 2 * 16 * (1 << 12) * 256 * 16 * 256
)

// benchmarkLimit is the time limit of the benchmark, generous for a busy machine. On an idle machine it takes some
// seconds.
const benchmarkLimit = 5 * time.Minute

// benchmarkCaseCount is the number of cases: an empty call, reading, arithmetic, in this order.
const benchmarkCaseCount = 3

// slotBenchmarkJob returns the job that benchmarks a device.
func slotBenchmarkJob(device string, gpu bool) (job.Job, error) {
	def, floats := slotBenchmarkDefinition(tasks.LangCPP, "reference.h", "submission.cpp"), cpuReadKernelFloats
	if gpu {
		def, floats = slotBenchmarkDefinition(tasks.LangCUDA, "reference.cuh", "submission.cu"), gpuReadKernelFloats
	}
	for kind := range benchmarkCaseCount {
		c := tasks.Case{{Name: "kind", Value: strconv.Itoa(kind)}, {Name: "size", Value: strconv.Itoa(floats)}, {Name: "seed", Value: "1"}}
		def.Benchmarks = append(def.Benchmarks, c)
	}
	sources, err := slotBenchmarkSources(def)
	return job.Job{
		MessageVersion: job.MessageVersion, AttemptID: job.SlotBenchmarkIDPrefix + rand.Text(), Device: device, Mode: job.ModeBenchmark,
		TaskHash: "gauge " + string(def.Lang), Task: def, Sources: sources, EnqueuedAt: time.Now(),
	}, err
}

func slotBenchmarkDefinition(lang tasks.Lang, reference, submission string) tasks.Definition {
	return tasks.Definition{
		Protocol: tasks.ProtocolEval, Lang: lang, Title: "Gauge",
		Files:  []tasks.File{{Name: "task.h", Source: "task.h"}, {Name: reference, Source: reference}, {Name: submission, Source: tasks.SubmissionSource}},
		Config: tasks.BuildConfig{Sources: []string{submission}}, RankingBy: tasks.RankGeometricMean, DisableProfile: true,
		Timeouts: tasks.Timeouts{Test: benchmarkLimit, Benchmark: benchmarkLimit, Ranked: benchmarkLimit},
	}
}

func slotBenchmarkSources(def tasks.Definition) (map[string][]byte, error) {
	sources := map[string][]byte{}
	for _, f := range def.Files {
		text, err := slotBenchmarkPrograms.ReadFile("slotbench/" + string(def.Lang) + "/" + f.Name)
		if err != nil {
			return nil, fmt.Errorf("the slot benchmark lacks a program: %w", err)
		}
		sources[f.Name] = text
	}
	return sources, nil
}

// readSlotBenchmark returns the benchmark in a result. Its EmptyCallNS is the smallest value of all clocks, because the
// judge's clocks also include other work of the machine.
func readSlotBenchmark(result job.Result, gpu bool) (job.SlotBenchmark, error) {
	if result.Failure != nil {
		return job.SlotBenchmark{}, fmt.Errorf("the slot benchmark ended with %q: %s", result.Outcome, result.Failure.Reason)
	}
	for _, stage := range result.Stages {
		if stage.Stage != job.StageBenchmark || len(stage.Cases) != benchmarkCaseCount {
			continue
		}
		c := stage.Cases
		bytes, flops := 4.0*cpuReadKernelFloats, float64(cpuMathKernelFlops)
		if gpu {
			bytes, flops = 4.0*gpuReadKernelFloats, float64(gpuMathKernelFlops)
		}
		floor := c[0].Best
		if c[0].ClockTimes.CountedClock != job.ClockEvent {
			floor = math.Min(floor, c[0].ClockTimes.EventTime)
		}
		g := job.SlotBenchmark{MeasuredAt: stage.EndedAt, EmptyCallNS: floor, BytesPerSecond: ratePerSecond(bytes, c[1].Best), FlopsPerSecond: ratePerSecond(flops, c[2].Best),
			ReadCaseNS: c[1].Median, MathCaseNS: c[2].Median}
		if g.Valid() {
			return g, nil
		}
	}
	return job.SlotBenchmark{}, fmt.Errorf("the slot benchmark ended with %q and without its times", result.Outcome)
}

func ratePerSecond(amount, ns float64) float64 {
	if !(ns > 0) {
		return 0
	}
	return amount / ns * 1e9
}
