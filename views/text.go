package views

import "warpboard/tasks"

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
