package views

import (
	"slices"
	"strings"

	"warpboard/tasks"
	"warpboard/views/format"
)

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
	"benchmark": {"Benchmark", "Quick timing of each case, no score"},
	"ranked":    {"Ranked", "Test, time, and rank on the board"},
	"practice":  {"Practice", "After the deadline: measured like a ranked run, on no board"},
	"baseline":  {"Baseline", "Run by the site, for comparison"},
	"profile":   {"Profile", "Nsight Compute report of each benchmark case"},
	"sanitize":  {"Sanitize", "Memory errors and races, found by compute-sanitizer in the tests"},
}

// ModeName is a submission's mode for people.
func ModeName(mode string) string {
	if name, ok := modeNames[mode]; ok {
		return name.label
	}
	return mode
}

// argNames lists the names of all arguments of the cases, in the order of their first use.
func argNames(cases []tasks.Case) []string {
	var names []string
	for _, c := range cases {
		for _, arg := range c {
			if !slices.Contains(names, arg.Name) {
				names = append(names, arg.Name)
			}
		}
	}
	return names
}

// argValue is a case's value of an argument; a dash where the case does not have it. A case that names no devices is for all.
func argValue(c tasks.Case, name string) string {
	for _, arg := range c {
		if arg.Name == name {
			return arg.Value
		}
	}
	if name == tasks.DevicesKey {
		return "all"
	}
	return format.Nothing
}

// BrowserName makes a User-Agent readable: "Firefox on Linux". What it does not know it shows as it is.
func BrowserName(agent string) string {
	// The order matters: browsers name their forebears, too.
	browser := firstOf(agent, [][2]string{
		{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	})
	system := firstOf(agent, [][2]string{
		{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"Mac OS", "macOS"}, {"Linux", "Linux"},
	})
	switch {
	case browser != "" && system != "":
		return browser + " on " + system
	case browser != "":
		return browser
	case agent == "":
		return "Unknown"
	}
	return agent
}

func firstOf(text string, names [][2]string) string {
	for _, name := range names {
		if strings.Contains(text, name[0]) {
			return name[1]
		}
	}
	return ""
}
