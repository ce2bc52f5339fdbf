package charts

import (
	"slices"
	"strings"

	"warpboard/evaluator/versus"
)

// CaseNames returns short names for cases from their specs, without seeds, except where only the seed distinguishes two
// cases.
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

// withoutSeed removes "seed: 7" from "size: 1024; seed: 7"; a spec with only a seed is unchanged.
func withoutSeed(spec string) string {
	const between = "; "
	rest := slices.DeleteFunc(strings.Split(spec, between), func(arg string) bool { return strings.HasPrefix(arg, "seed: ") })
	if len(rest) == 0 {
		return spec
	}
	return strings.Join(rest, between)
}

// CasesWithShortNames returns cases with short names in place of specs, for tables and drawings.
func CasesWithShortNames(cases []versus.ComparedCase) []versus.ComparedCase {
	named, specs := slices.Clone(cases), make([]string, len(cases))
	for i, c := range cases {
		specs[i] = c.Spec
	}
	for i, name := range CaseNames(specs) {
		named[i].Spec = name
	}
	return named
}
