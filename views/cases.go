package views

import (
	"slices"

	"warpboard/tasks"
	"warpboard/views/format"
)

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

// argValue is a case's value of an argument; a dash where the case does not have it.
func argValue(c tasks.Case, name string) string {
	for _, arg := range c {
		if arg.Name == name {
			return arg.Value
		}
	}
	return format.Nothing
}
