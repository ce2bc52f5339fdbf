package charts

import (
	"slices"
	"strings"

	"warpboard/evaluator/versus"
)

// CaseNames are the specs of cases for places with little room: without seeds, except in cases that nothing else tells apart.
func CaseNames(specs []string) []string {
	names := make([]string, len(specs))
	uses := map[string]int{}
	for i, spec := range specs {
		names[i] = withoutSeed(spec)
		uses[names[i]]++
	}
	for i, spec := range specs {
		if uses[names[i]] > 1 {
			names[i] = spec
		}
	}
	return names
}

// withoutSeed leaves "seed: 7" out of "size: 1024; seed: 7", but not where a case has nothing else.
func withoutSeed(spec string) string {
	const between = "; "
	rest := slices.DeleteFunc(strings.Split(spec, between), func(arg string) bool { return strings.HasPrefix(arg, "seed: ") })
	if len(rest) == 0 {
		return spec
	}
	return strings.Join(rest, between)
}

// Named are cases with names instead of specs, for tables and drawings.
func Named(cases []versus.Case) []versus.Case {
	named, specs := slices.Clone(cases), make([]string, len(cases))
	for i, c := range cases {
		specs[i] = c.Spec
	}
	for i, name := range CaseNames(specs) {
		named[i].Spec = name
	}
	return named
}
