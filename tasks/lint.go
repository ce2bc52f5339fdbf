package tasks

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	plainNamePattern  = regexp.MustCompile(`^[A-Za-z_]+$`)
	plainValuePattern = regexp.MustCompile(`^(?:[A-Za-z0-9_.]+|[-+]?[0-9.]+(?:e[-+]?[0-9]+)?|[\[(][-+0-9, ]*[\])])$`)
)

// lintBundle returns warnings about valid content that its author probably did not intend.
func lintBundle(b *Bundle, unused []string) []string {
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	def := b.Definition
	if len(def.Tests) == 0 {
		warn("There are no tests: only the benchmarks check answers.")
	}
	if len(def.Benchmarks) == 0 {
		warn("There are no benchmarks: ranked runs are not possible.")
	}
	if len(def.Templates) == 0 {
		warn("There are no templates: people start from an empty file.")
	}
	if strings.TrimSpace(def.Description) == "" {
		warn("The description is empty.")
	}
	if def.Config.MainFile != "" && slices.Contains(submissionNames(def.Files), def.Config.MainFile) {
		warn("config.main is the submission itself: it reports its own times.")
	}
	if !def.HasOwnHarness && len(submissionNames(def.Files)) > 1 {
		warn("Several entries of files are the submission: all of them get the same text.")
	}
	if !def.HasOwnHarness {
		for _, missing := range b.missingFunctions() {
			warn("%s, which Warpboard's harness calls: every run will fail.", missing)
		}
	}
	if def.Tolerance != nil && b.hasChecker() {
		warn("The reference has check_implementation, which alone decides: tolerance has no effect.")
	}
	lintTimeouts(def.Timeouts, warn)
	if def.RankedBudget > def.Timeouts.Ranked {
		warn("ranked_budget (%s) is longer than ranked_timeout (%s), which ends the stage.", def.RankedBudget, def.Timeouts.Ranked)
	}
	lintCases("tests", def.Tests, def.HasOwnHarness, warn)
	lintCases("benchmarks", def.Benchmarks, def.HasOwnHarness, warn)
	lintDevices(def, warn)
	if len(unused) > 0 {
		warn("Not used by %s: %s.", TaskFile, strings.Join(firstFewNames(unused), ", "))
	}
	return out
}

func lintTimeouts(t Timeouts, warn func(string, ...any)) {
	for _, stage := range []struct {
		key   string
		limit time.Duration
	}{{"test_timeout", t.Test}, {"benchmark_timeout", t.Benchmark}, {"ranked_timeout", t.Ranked}} {
		if stage.limit < 5*time.Second {
			warn("%s is %s: a program that imports torch needs longer to start.", stage.key, stage.limit)
		}
		if stage.limit > 30*time.Minute {
			warn("%s is %s: one bad submission can block a device for that long.", stage.key, stage.limit)
		}
	}
}

// lintCases warns, once per list, about names and values that the eval programs of KernelBot refuse, about duplicate
// cases, about cases with different arguments, and about a word where the first case has a number.
func lintCases(key string, cases []Case, ownHarness bool, warn func(string, ...any)) {
	seen := map[string]int{}
	odd, twice, different, mixed := "", "", "", ""
	like := mostCommonCase(cases)
	for i, c := range cases {
		at := indexedKey(key, i)
		if first, known := seen[c.String()]; known && twice == "" && !c.HasRanges() {
			twice = fmt.Sprintf("%s is the same as %s.", at, indexedKey(key, first))
		}
		seen[c.String()] = i
		if different == "" && argumentNames(c) != argumentNames(cases[like]) {
			different = fmt.Sprintf("%s has other arguments (%s) than %s (%s).%s", at, argumentNames(c), indexedKey(key, like), argumentNames(cases[like]), suggestName(c, cases[like]))
		}
		for _, arg := range c.Arguments() {
			if first := cases[0].argumentText(arg.Name); mixed == "" && !c.HasRanges() && !cases[0].HasRanges() && isNumber(first) && !isNumber(arg.Value) {
				mixed = fmt.Sprintf("%s: %q is no number, but %s is %s in %s.", at, arg.Value, arg.Name, first, indexedKey(key, 0))
			}
			if ownHarness && odd == "" && !(plainNamePattern.MatchString(arg.Name) &&
				plainValuePattern.MatchString(arg.Value)) {
				odd = fmt.Sprintf("%s: many eval programs cannot read %q.", at, arg.Name+": "+arg.Value)
			}
		}
	}
	for _, warning := range []string{twice, different, mixed, odd} {
		if warning != "" {
			warn("%s", warning)
		}
	}
}

// mostCommonCase returns the index of the first case with the most common set of arguments.
func mostCommonCase(cases []Case) (first int) {
	have := map[string]int{}
	for _, c := range cases {
		have[argumentNames(c)]++
	}
	for i, c := range cases {
		if have[argumentNames(c)] > have[argumentNames(cases[first])] {
			first = i
		}
	}
	return first
}

// suggestName returns a warning if an argument of case c is probably a misspelling of one in case like; "" for none.
func suggestName(c, like Case) string {
	var lacks []string
	for _, arg := range like.Arguments() {
		if !slices.ContainsFunc(c, func(a Arg) bool { return a.Name == arg.Name }) {
			lacks = append(lacks, arg.Name)
		}
	}
	for _, arg := range c.Arguments() {
		if slices.ContainsFunc(like, func(a Arg) bool { return a.Name == arg.Name }) {
			continue
		}
		if near := NearestName(arg.Name, lacks); near != "" {
			return fmt.Sprintf(" Did you mean %s instead of %s?", near, arg.Name)
		}
	}
	return ""
}

func isNumber(value string) bool {
	_, err := strconv.ParseFloat(value, 64)
	return err == nil
}

// argumentNames returns the sorted names of the arguments of a case.
func argumentNames(c Case) string {
	var out []string
	for _, arg := range c.Arguments() {
		out = append(out, arg.Name)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func firstFewNames(list []string) []string {
	const few = 8
	if len(list) <= few {
		return list
	}
	return append(slices.Clone(list[:few]), fmt.Sprintf("and %d more", len(list)-few))
}
