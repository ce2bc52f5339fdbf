package views

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"warpboard/tasks"
)

// Sentence begins text with a capital letter.
func Sentence(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + text[size:]
}

// lowerFirst takes a sentence's capital away, inside another one.
func lowerFirst(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToLower(r)) + text[size:]
}

// full ends a sentence with a point, as errors do not.
func full(text string) string {
	text = Sentence(strings.TrimSpace(text))
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?:") {
		return text
	}
	return text + "."
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// LangName is a task's language for people.
func LangName(lang tasks.Lang) string {
	switch lang {
	case tasks.LangCUDA:
		return "CUDA C++"
	case tasks.LangPython:
		return "Python"
	case tasks.LangCPP:
		return "C++"
	}
	return string(lang)
}

// RankingName says how a task's cases become one score.
func RankingName(ranking tasks.Ranking) string {
	switch ranking {
	case tasks.RankLast:
		return "Time of the last benchmark case"
	case tasks.RankMean:
		return "Mean time of the benchmark cases"
	case tasks.RankGeom:
		return "Geometric mean of the benchmark cases"
	}
	return string(ranking)
}

// modeNames says what each mode does.
var modeNames = map[string]struct{ label, hint string }{
	"test":      {"Test", "Correctness only"},
	"benchmark": {"Benchmark", "Test and time, off the board"},
	"ranked":    {"Ranked", "Test, time and take a place on the board"},
	"profile":   {"Profile", "Nsight Compute of each benchmark case"},
}

// ModeName is a submission's mode for people.
func ModeName(mode string) string {
	if name, ok := modeNames[mode]; ok {
		return name.label
	}
	return mode
}
