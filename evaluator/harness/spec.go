package harness

import (
	"strings"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// SpecLine formats a case for eval programs: "seed: 1; size: 256".
func SpecLine(c tasks.Case) string {
	parts := make([]string, len(c))
	for i, arg := range c {
		parts[i] = arg.Name + ": " + arg.Value
	}
	// A line break would start another case. Reading a task refuses such values.
	return strings.ReplaceAll(strings.Join(parts, "; "), "\n", " ")
}

// CasesFile returns the input file of an eval program: one spec line per case.
func CasesFile(cases []tasks.Case) []byte {
	var b strings.Builder
	for _, c := range cases {
		b.WriteString(SpecLine(c))
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// PublicSeed returns the seed that a task sets for its stages, or nil.
func PublicSeed(def tasks.Definition) *uint64 {
	if def.Seed == nil {
		return nil
	}
	seed := uint64(*def.Seed)
	return &seed
}

// StageCases returns the cases of a stage: the tests or the benchmarks. If only the last benchmark counts for the
// score, it returns only that one.
func StageCases(def tasks.Definition, stage job.Stage) []tasks.Case {
	switch {
	case stage == job.StageTest, stage == job.StageSanitize:
		return def.Tests
	case def.RankingBy == tasks.RankLastCase && len(def.Benchmarks) > 1:
		return def.Benchmarks[len(def.Benchmarks)-1:]
	default:
		return def.Benchmarks
	}
}

// EvalMode returns the name of a stage for eval programs. The secret stage has the name of the ranked stage.
func EvalMode(stage job.Stage) string {
	switch stage {
	case job.StageTest, job.StageBenchmark, job.StageProfile, job.StageValidate:
		return string(stage)
	case job.StageSanitize:
		return string(job.StageTest)
	default:
		return "leaderboard"
	}
}

// BundleHarness is the name of the harness of a task with its own program (HarnessNameOfTask): the kernel runs inside
// that program, and no judge times it.
const BundleHarness = "bundle"

// HarnessNameOfTask returns the name of the harness that measures a task's runs: "warpboard/<lang>", "bundle", or
// "legacy".
func HarnessNameOfTask(def tasks.Definition) string {
	switch {
	case def.Protocol == tasks.ProtocolLegacy:
		return "legacy"
	case def.HasOwnHarness:
		return BundleHarness
	default:
		return "warpboard/" + string(def.Lang)
	}
}
