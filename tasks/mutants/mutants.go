package mutants

import (
	"strings"

	"warpboard/tasks"
)

// Mutant is a deliberately wrong submission.
type Mutant struct {
	Name   string // for example "one percent off"
	Source []byte
}

// mutantCode is the code that a mutant adds around the call of the correct kernel: one version for C++ and CUDA, and
// one for Python.
type mutantCode struct{ nativeCode, pythonCode codeAroundCall }

// codeAroundCall is code around the call of the correct kernel: a statement before, one after, and functions that both
// call.
type codeAroundCall struct{ helperFunctions, codeBefore, codeAfter string }

// errorKind is one kind of error that a mutant has.
type errorKind struct {
	name     string
	code     mutantCode
	minTests int // number of tests needed to detect it
}

// mutantErrorKinds returns the kinds of errors that checks most often miss.
func mutantErrorKinds() []errorKind {
	return []errorKind{
		{name: "one percent off", code: wrongElementCode("x * 1.01", "answer[...] = (right * 1.01).astype(answer.dtype) if numpy else right * 1.01")},
		{name: "all zeros", code: wrongElementCode("x * 0", "answer[...] = 0")},
		{name: "last element wrong", code: wrongElementCode("i + 1 == n ? x + x + 1 : x", "flat = answer.reshape(-1); flat[-1] = flat[-1] * 2 + 1")},
		{name: "in reverse order", code: wrongElementCode("right[n - 1 - i]", "answer[...] = right[::-1] if numpy else right.flip(0)")},
		{name: "half precision", code: wrongElementCode("lower(x)", "answer[...] = right.astype('float16') if numpy else right.bfloat16()")},
		{name: "not a number", code: wrongElementCode("i == n / 2 ? x * std::numeric_limits<double>::quiet_NaN() : x", "flat = answer.reshape(-1); flat[len(flat) // 2] = float('nan')")},
		{name: "stale output", code: staleOutputCode(), minTests: 2},
		{name: "one term missing", code: missingTermCode()},
	}
}

// MutantsOf returns mutants of right, a correct submission to a task.
func MutantsOf(def tasks.Definition, right []byte) []Mutant {
	var list []Mutant
	for _, k := range mutantErrorKinds() {
		if len(def.Tests) < k.minTests {
			continue
		}
		text := ""
		switch def.Lang {
		case tasks.LangCPP:
			text = nativeMutant(string(right), k.code.nativeCode, "")
		case tasks.LangCUDA:
			text = nativeMutant(string(right), k.code.nativeCode, deviceSpoilSource)
		default:
			text = pythonMutant(string(right), k.code.pythonCode)
		}
		list = append(list, Mutant{Name: k.name, Source: []byte(text)})
	}
	return list
}

// wrongElementCode returns code that changes the output of the correct kernel. cpp is a C++ expression for the new
// value of element x, at index i of n; statements are Python statements.
func wrongElementCode(cpp, statements string) mutantCode {
	return mutantCode{
		nativeCode: codeAroundCall{helperFunctions: strings.Replace(elementwiseHelpers, "SPOILED", cpp, 1),
			codeAfter: "spoil(answer);"},
		pythonCode: codeAroundCall{codeAfter: statements},
	}
}

// staleOutputCode returns code that replaces each output by the previous call's, like a kernel that writes nothing or
// caches its output. The output of the first call stays correct.
func staleOutputCode() mutantCode {
	return mutantCode{
		nativeCode: codeAroundCall{helperFunctions: nativeStaleSource, codeAfter: "spoil(answer);"},
		pythonCode: codeAroundCall{helperFunctions: pythonStaleSource,
			codeAfter: "answer[...] = _before(right, numpy)"},
	}
}

// missingTermCode returns code that sets the largest number of the input to zero, so that outputs lack its
// contribution.
func missingTermCode() mutantCode {
	return mutantCode{
		nativeCode: codeAroundCall{helperFunctions: nativeZeroLargestSource, codeBefore: "leave_out_a_term(data);"},
		pythonCode: codeAroundCall{helperFunctions: pythonZeroLargestSource, codeBefore: "_leave_out_a_term(data)"},
	}
}
