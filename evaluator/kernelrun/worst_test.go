package kernelrun

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// worst returns bodies of one MiB in which everything is wrong.
func worst() map[string]string {
	const size = 1 << 20
	many := func(before, one, after string) string {
		return before + strings.TrimSuffix(strings.Repeat(one+",", size/(len(one)+1)), ",") + after
	}
	keys := func(before, after string) string {
		var out strings.Builder
		out.WriteString(before)
		for i := 0; out.Len() < size; i++ {
			fmt.Fprintf(&out, `"k%d":1,`, i)
		}
		return out.String() + `"k":1` + after
	}
	const kernel = `{"kernel":{"source_code":"","kernel_type":"torch","io":{"args":[`
	return map[string]string{
		"arguments without anything": many(kernel, `{}`, `]}}}`),
		"arguments of no type":       many(kernel, `{"name":"","type":""}`, `]}}}`),
		"a shape of words": many(kernel+`{"name":"","type":"tensor","tensor_spec":{"shape":[`, `""`,
			`]}}]}}}`),
		"keys of a kernel":  keys(`{"kernel":{"source_code":"","kernel_type":"torch",`, `}}`),
		"keys of a request": keys(`{"kernel":{"source_code":"","kernel_type":"torch"},`, `}`),
	}
}

func TestABodyFullOfErrorsCostsLittleMoreThanReadingIt(t *testing.T) {
	for name, text := range worst() {
		body := decode(t, text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		_, problems := ReadRequest(KindEvaluate, body, RefuseAll)
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
		t.Logf("%s: %d problems, %d MiB, %v", name, len(problems), allocated, took)
		if len(problems) == 0 || len(problems) > maxProblems+2 || allocated > 8 {
			t.Errorf("%s: %d problems, %d MiB", name, len(problems), allocated)
		}
	}
}

// TestALongSourceIsReadWithoutACopy checks a source of megabytes.
func TestALongSourceIsReadWithoutACopy(t *testing.T) {
	source := strings.Repeat("x = y + 1 # of many lines\n", 8<<20/27)
	body := map[string]any{"kernel": map[string]any{"source_code": source, "kernel_type": "torch"}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	read, problems := ReadRequest(KindEvaluate, body, RefuseAll)
	runtime.ReadMemStats(&after)
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; len(problems) > 0 || read.CustomKernel.Source != source ||
		allocated > 1 {
		t.Errorf("%d MiB allocated, %d problems", allocated, len(problems))
	}
}
