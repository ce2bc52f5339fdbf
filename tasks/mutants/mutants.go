package mutants

import (
	"strings"

	"warpboard/tasks"
)

// Mutant is a deliberately wrong submission.
type Mutant struct {
	Name   string // "one percent off"
	Source []byte
}

// mutantCode is the code of a mutant before or after the call of the correct kernel, for C++ and CUDA and for Python.
type mutantCode struct{ native, python wrapping }

// wrapping is code around the call of the correct kernel: a statement before, one after, and functions that both call.
type wrapping struct{ helpers, before, after string }

// errorKind is one kind of error that a mutant has.
type errorKind struct {
	name     string
	part     mutantCode
	minTests int // number of tests needed to detect it
}

// errorKinds returns the kinds of errors that checks most often miss.
func errorKinds() []errorKind {
	return []errorKind{
		{name: "one percent off", part: spoiledAnswer("x * 1.01", "answer[...] = (right * 1.01).astype(answer.dtype) if numpy else right * 1.01")},
		{name: "all zeros", part: spoiledAnswer("x * 0", "answer[...] = 0")},
		{name: "last element wrong", part: spoiledAnswer("i + 1 == n ? x + x + 1 : x", "flat = answer.reshape(-1); flat[-1] = flat[-1] * 2 + 1")},
		{name: "in reverse order", part: spoiledAnswer("right[n - 1 - i]", "answer[...] = right[::-1] if numpy else right.flip(0)")},
		{name: "half precision", part: spoiledAnswer("lower(x)", "answer[...] = right.astype('float16') if numpy else right.bfloat16()")},
		{name: "not a number", part: spoiledAnswer("i == n / 2 ? x * std::numeric_limits<double>::quiet_NaN() : x", "flat = answer.reshape(-1); flat[len(flat) // 2] = float('nan')")},
		{name: "stale output", part: staleAnswer(), minTests: 2},
		{name: "one term missing", part: withoutTerm()},
	}
}

// MutantsOf returns mutants of right, a correct submission to a task.
func MutantsOf(def tasks.Definition, right []byte) []Mutant {
	var list []Mutant
	for _, k := range errorKinds() {
		if len(def.Tests) < k.minTests {
			continue
		}
		text := ""
		switch def.Lang {
		case tasks.LangCPP:
			text = nativeMutant(string(right), k.part.native, "")
		case tasks.LangCUDA:
			text = nativeMutant(string(right), k.part.native, deviceSpoil)
		default:
			text = pythonMutant(string(right), k.part.python)
		}
		list = append(list, Mutant{Name: k.name, Source: []byte(text)})
	}
	return list
}

// spoiledAnswer makes an output wrong. cpp is an expression for the new value of element x, at index i of n; statements
// are Python statements that change the output.
func spoiledAnswer(cpp, statements string) mutantCode {
	return mutantCode{
		native: wrapping{helpers: strings.Replace(elementwise, "SPOILED", cpp, 1), after: "spoil(answer);"},
		python: wrapping{after: statements},
	}
}

// staleAnswer returns the output of the previous call, as a kernel does that writes nothing or caches its output. The
// first call is correct.
func staleAnswer() mutantCode {
	return mutantCode{
		native: wrapping{helpers: nativeStale, after: "spoil(answer);"},
		python: wrapping{helpers: pythonStale, after: "answer[...] = _before(right, numpy)"},
	}
}

// withoutTerm sets the largest number of the input to zero, so that outputs lack its contribution.
func withoutTerm() mutantCode {
	return mutantCode{
		native: wrapping{helpers: nativeTerm, before: "leave_out_a_term(data);"},
		python: wrapping{helpers: pythonTerm, before: "_leave_out_a_term(data)"},
	}
}
