package charts

import (
	"slices"
	"strings"

	"warpboard/evaluator/versus"
)

// CaseNames returns short specs of cases: without seeds, unless only the seed distinguishes two cases.
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

// withoutSeed removes "seed: 7" from "size: 1024; seed: 7", unless nothing else remains.
func withoutSeed(spec string) string {
	const between = "; "
	rest := slices.DeleteFunc(strings.Split(spec, between), func(arg string) bool { return strings.HasPrefix(arg, "seed: ") })
	if len(rest) == 0 {
		return spec
	}
	return strings.Join(rest, between)
}

// Named returns cases with names instead of specs, for tables and drawings.
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
