package tasks_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/fuzztest"
	"warpboard/tasks"
)

// ranged is a task.yml with ranges in its tests and benchmarks.
const ranged = minimal + `tests:
  - {n: "uniform 1..100", kind: "choice float16|bfloat16", seed: 1}
benchmarks:
  - {n: uniform 1000..5000 step 8, seed: 2}
  - {n: uniform 1000..5000 step 8, seed: 2}
  - {n: 64, causal: choice true|false}
`

func TestADrawKeepsToItsRange(t *testing.T) {
	def := mustTask(t, ranged).Definition
	seen := map[string]map[string]bool{}
	for i := range 400 {
		drawn := def.DrawValues([]byte(fmt.Sprint("seed ", i)))
		if drawn.HasRanges() || !def.HasRanges() {
			t.Fatalf("drawn %v, declared %v", drawn.Benchmarks, def.Benchmarks)
		}
		for _, c := range []tasks.Case{drawn.Benchmarks[0], drawn.Benchmarks[1]} {
			if n, err := strconv.Atoi(c[0].Value); err != nil || n < 1000 || n > 5000 || n%8 != 0 || c[1].Value != "2" {
				t.Fatalf("drawn: %s (%v)", c, err)
			}
		}
		for _, arg := range append(drawn.Tests[0], drawn.Benchmarks[2]...) {
			if seen[arg.Name] == nil {
				seen[arg.Name] = map[string]bool{}
			}
			seen[arg.Name][arg.Value] = true
		}
	}
	want := map[string]bool{"float16": true, "bfloat16": true}
	if diff := cmp.Diff(want, seen["kind"]); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"True": true, "False": true}, seen["causal"]); diff != "" {
		t.Errorf("choices are not read as YAML (-want +got):\n%s", diff)
	}
	if len(seen["n"]) < 60 {
		t.Errorf("400 draws have %d values of about 101", len(seen["n"]))
	}
}

// TestASeedDrawsTheSameInEveryRelease checks the generated values of a fixed seed. They are not stored, so a release
// that generates other values would measure stored runs with other cases.
func TestASeedDrawsTheSameInEveryRelease(t *testing.T) {
	def := mustTask(t, ranged).Definition
	var got []string
	for _, c := range append(def.DrawValues([]byte("a seed")).Tests, def.DrawValues([]byte("a seed")).Benchmarks...) {
		got = append(got, c.String())
	}
	want := []string{"n: 76; kind: float16; seed: 1", "n: 3616; seed: 2", "n: 1232; seed: 2", "n: 64; causal: False"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("drawn (-want +got):\n%s", diff)
	}
}

// choices returns the numbers below n, joined by "|".
func choices(n int) string {
	var list []string
	for i := range n {
		list = append(list, strconv.Itoa(i))
	}
	return strings.Join(list, "|")
}

func TestABadRangeIsRefusedByFileLineAndKey(t *testing.T) {
	own := minimal + "  - {name: eval.py, source: eval.py}\n"
	for name, c := range map[string]struct{ yaml, want string }{
		"words": {"tests: [{n: uniform many}]\n",
			`task.yml:6: tests[0].n: "uniform many" is not a range: write uniform 1000..5000`},
		"no end":    {"tests: [{n: uniform 5..}]\n", `tests[0].n: "uniform 5.." is not a range`},
		"fractions": {"tests: [{n: uniform 0.5..1.5}]\n", "tests[0].n: "},
		"backwards": {"benchmarks: [{n: 1}, {n: uniform 9..5}]\n",
			"task.yml:6: benchmarks[1].n: the range 9..5 is empty: the smaller number comes first"},
		"step 0":        {"tests: [{n: uniform 1..5 step 0}]\n", "tests[0].n: the step is 0; it must be at least 1"},
		"negative step": {"tests: [{n: uniform 1..5 step -1}]\n", "tests[0].n: the step is -1"},
		"one value": {"tests: [{n: uniform 1..5 step 8}]\n",
			"tests[0].n: the range has only the value 1: write that value"},
		"overflow": {"tests: [{n: uniform 1..99999999999999999999}]\n",
			"tests[0].n: 99999999999999999999 is outside what 64 bits can hold"},
		"too many": {"tests: [{n: uniform -9223372036854775808..9223372036854775807}]\n",
			"tests[0].n: the range has more values than 64 bits can count"},
		"empty choice": {"tests: [{n: choice 1||2}]\n", "tests[0].n: a choice is empty"},
		"choice twice": {"tests: [{n: choice 1|01|1}]\n", "tests[0].n: the choice 1 appears twice"},
		"many choices": {"tests: [{n: choice " + choices(65) + "}]\n",
			"tests[0].n: a range has at most 64 choices"},
		"long choices": {"tests: [{n: choice " + strings.Repeat("x", 500) + "|" + strings.Repeat("y", 500) + "}]\n",
			"tests[0].n: a range has at most 1000 characters"},
		"one choice": {"tests: [{n: choice 7}]\n", "tests[0].n: there is only the choice 7"},
		"in a list":  {"tests: [{n: [uniform 1..5, 2]}]\n", "tests[0].n: a range stands alone, not in a list"},
		"not an argument": {"test_timeout: uniform 1..5\n",
			"task.yml:6: test_timeout: must be a whole number; only arguments of tests and benchmarks can be ranges"},
		"number of GPUs": {"multi_gpu: true\ntests: [{world_size: choice 2|4}]\n",
			"task.yml:7: tests[0].world_size: the number of GPUs cannot be drawn"},
		"roofline's end": {"benchmarks: [{n: uniform 0..4}]\nroofline: {flops: 1 / n}\n",
			"roofline.flops: fails on benchmarks[0]: "},
		"roofline's start": {"benchmarks: [{n: uniform 0..4}]\nroofline: {flops: 3 - n}\n",
			"roofline.flops: fails on benchmarks[0]: "},
		"roofline's words": {"benchmarks: [{n: choice 1|2|many}]\nroofline: {flops: n}\n",
			"roofline.flops: fails on benchmarks[0]: "},
		"own program": {"  - {name: eval.py, source: eval.py}\ntests: [{n: uniform 1..5}]\n",
			"task.yml:7: tests[0]: a task with an eval program of its own has no ranges"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := task(t, minimal+c.yaml)
			wantError(t, err, c.want)
		})
	}
	if _, err := task(t, own+"harness: warpboard\ntests: [{n: uniform 1..5}]\n"); err != nil &&
		strings.Contains(err.Error(), "ranges") {
		t.Errorf("Warpboard's harness in place of the task's: %v", err)
	}
	for _, plain := range []string{"uniform", "choice", "uniformly", "choices a"} {
		if def := mustTask(t, minimal+"tests: [{n: "+plain+"}]\n").Definition; def.HasRanges() {
			t.Errorf("%q is taken for a range", plain)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	fuzztest.Moment(f)
	for _, text := range []string{"uniform 1..5", "uniform -9223372036854775808..9223372036854775806 step 3",
		"choice a|b", "choice |", "uniform 1..5 step 0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := tasks.ParseRange(text); err != nil {
			return
		}
		def := tasks.Definition{Tests: []tasks.Case{{{Name: "n", Value: text}}}}
		if value := def.DrawValues([]byte(text)).Tests[0][0].Value; value == text {
			t.Errorf("%q is no value", value)
		}
	})
}
