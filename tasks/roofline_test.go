package tasks_test

import (
	"strings"
	"testing"

	"warpboard/tasks"
)

func TestRooflineFollowsPythonsArithmetic(t *testing.T) {
	c := tasks.Case{{Name: "m", Value: "3"}, {Name: "n", Value: "2.5"}, {Name: "float32", Value: "7"}}
	for text, want := range map[string]float64{
		"1":                   1,
		"2 + 3 * 4":           14,
		"(2 + 3) * 4":         20,
		"10 - 3 - 2":          5,
		"12 / 3 / 2":          2,
		"2 ** 3 ** 2":         512,
		"2 ** -1":             0.5,
		"10 + -2 ** 2":        6,
		"-(-3)":               3,
		"m * n":               7.5,
		"m*m*float16":         18,
		"float32":             7, // an argument of the case takes precedence over the element size with its name
		"1_000":               1000,
		"1e3 + .5":            1000.5,
		" \t m ":              3,
		"2 * m ** 3 + 3 * m ": 63,
	} {
		bytes, flops, err := tasks.Roofline{Bytes: text, Flops: text}.BytesAndFlops(c)
		if err != nil || bytes != want || flops != want {
			t.Errorf("%s is %v and %v (%v), want %v", text, bytes, flops, err, want)
		}
	}
}

func TestBadExpressionIsRefused(t *testing.T) {
	c := tasks.Case{{Name: "n", Value: "2"}, {Name: "kind", Value: "normal"}}
	for text, want := range map[string]string{
		"2 +":                           "ends where a number or a name is expected",
		"2 3":                           "'3' at character 3 is not expected",
		"(2":                            "a parenthesis is not closed",
		"2)":                            "')' at character 2 is not expected",
		"2 ^ 3":                         "'^' at character 3",
		"n.x":                           "'n' at character 1",
		"__import__('os')":              "'(' at character 11",
		"size":                          `"size" is neither an argument of the case`,
		"kind":                          `the argument kind is "normal", which is not a number`,
		"1 / 0":                         "division by zero",
		"-1":                            `is -1 for the case "n: 2; kind: normal"`,
		"10 ** 400":                     "is +Inf",
		strings.Repeat("(", 60):         "is nested deeper than 50 levels",
		strings.Repeat("-", 60):         "is nested deeper than 50 levels",
		strings.Repeat("1+", 600):       "is longer than 1000 bytes",
		"2" + strings.Repeat("**2", 60): "is nested deeper than 50 levels",
	} {
		_, _, err := tasks.Roofline{Bytes: text}.BytesAndFlops(c)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %v, want an error with %q", text, err, want)
		}
	}
}
