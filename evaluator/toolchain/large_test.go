package toolchain

import (
	"runtime"
	"testing"

	"warpboard/evaluator/sandbox"
	"warpboard/internal/test/tier"
)

// TestALargeProgramIsInMemoryOnceAndNotForLong builds a program of 100 MB, which a source of one line can produce.
func TestALargeProgramIsInMemoryOnceAndNotForLong(t *testing.T) {
	tier.Needs(t, tier.Judge)
	const size = 100 << 20
	b := NewBuilder(Config{Toolchain: tools(), Runner: sandbox.New(sandbox.Config{BuildNice: 1, FirstUID: firstUID}),
		ObjectDir: t.TempDir()})
	j := cppJob(t, "correct.cpp")
	j.Sources["submission.cpp"] = append(j.Sources["submission.cpp"], "\nchar big[100u << 20] = {1};\n"...)
	before := memoryStats()
	artifact, _ := mustBuild(t, b, j)
	after := memoryStats()
	if got := after.TotalAlloc - before.TotalAlloc; len(artifact.submissionExecutable) < size || got > 2*size+size/2 {
		t.Errorf("building a program of %d MB allocates %d MB; an object and the program are twice as much",
			len(artifact.submissionExecutable)>>20, got>>20)
	}
	if got := held(after) - held(before); got > size+size/2 {
		t.Errorf("after the build %d MB are held", got>>20)
	}
	runtime.KeepAlive(artifact)
	before = memoryStats()
	again, result := mustBuild(t, b, j)
	if got := memoryStats().TotalAlloc - before.TotalAlloc; !result.FromCache ||
		len(again.submissionExecutable) < size ||
		got > size+size/2 {
		t.Errorf("the same build again, cached: %t, allocates %d MB", result.FromCache, got>>20)
	}
}

func memoryStats() (m runtime.MemStats) {
	runtime.ReadMemStats(&m)
	return m
}

// held returns the bytes of the machine's memory that the process holds for its heap.
func held(m runtime.MemStats) int64 { return int64(m.HeapSys) - int64(m.HeapReleased) }
