package views

import (
	"slices"
	"strings"

	"warpboard/tasks"
	"warpboard/views/format"
)

// LangName returns a task's language for people.
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

// RankingName describes a ranking rule for people.
func RankingName(ranking tasks.Ranking) string {
	switch ranking {
	case tasks.RankLastCase:
		return "Time of the last benchmark case"
	case tasks.RankMean:
		return "Mean time of the benchmark cases"
	case tasks.RankGeometricMean:
		return "Geometric mean of the benchmark cases"
	}
	return string(ranking)
}

// modeNames has the name and a description of each mode.
var modeNames = map[string]struct{ label, hint string }{
	"test":      {"Test", "Correctness only"},
	"compile":   {"Compile", "Compilers only: messages, resources, and the generated code"},
	"benchmark": {"Benchmark", "Quick timing of each case, no score"},
	"ranked":    {"Ranked", "Test, time, and rank on the board"},
	"practice":  {"Practice", "After the deadline: measured like a ranked run, on no board"},
	"baseline":  {"Baseline", "Run by the site, for comparison"},
	"profile":   {"Profile", "Nsight Compute report of each benchmark case"},
	"sanitize":  {"Sanitize", "Memory errors and races, found by compute-sanitizer in the tests"},
}

// ModeName returns a submission's mode for people.
func ModeName(mode string) string {
	if name, ok := modeNames[mode]; ok {
		return name.label
	}
	return mode
}

// argumentNames returns the names of all arguments of the cases, each once, in the order of the cases.
func argumentNames(cases []tasks.Case) []string {
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

// argumentText returns the value of an argument of a case, or a dash if the case does not have it. For the argument
// that limits a case to some devices it returns "all" instead of a dash.
func argumentText(c tasks.Case, name string) string {
	for _, arg := range c {
		if arg.Name == name {
			return arg.Value
		}
	}
	if name == tasks.DevicesKey {
		return "all"
	}
	return format.NotMeasured
}

// BrowserName returns a short name for a User-Agent: "Firefox on Linux". An unknown User-Agent is unchanged.
func BrowserName(agent string) string {
	// Chrome and others are tested in this order, because each User-Agent also has the names of other browsers.
	browser := firstContainedName(agent, [][2]string{
		{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	})
	system := firstContainedName(agent, [][2]string{
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

func firstContainedName(text string, names [][2]string) string {
	for _, name := range names {
		if strings.Contains(text, name[0]) {
			return name[1]
		}
	}
	return ""
}
