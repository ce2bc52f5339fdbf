package views

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// token is one colour of app.css, for both themes.
type token struct{ light, dark string }

func readColours(t *testing.T) map[string]token {
	t.Helper()
	css, err := os.ReadFile("assets/app.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := map[string]token{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);`).FindAllSubmatch(
		css, -1) {
		colours[string(m[1])] = token{string(m[2]), string(m[3])}
	}
	return colours
}

// luminance is WCAG's relative luminance of #rrggbb.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(v uint64) float64 {
		s := float64(v&255) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n>>16) + 0.7152*linear(n>>8) + 0.0722*linear(n)
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestTextHasContrastInBothThemes(t *testing.T) {
	colours := readColours(t)
	const text, line = 4.5, 3.0 // minimum contrast by WCAG AA, for texts and for borders of fields
	for _, pair := range []struct {
		front, back string
		least       float64
	}{
		{"ink", "page", text}, {"ink", "surface", text}, {"ink", "sunken", text},
		{"ink-soft", "page", text}, {"ink-soft", "surface", text}, {"ink-soft", "sunken", text},
		{"accent", "page", text}, {"accent", "surface", text}, {"accent", "accent-wash", text},
		{"accent-ink", "accent", text},
		{"ink", "accent-wash", text}, {"ink-soft", "accent-wash", text},
		{"pass", "pass-wash", text}, {"fail", "fail-wash", text}, {"warn", "warn-wash", text},
		{"ink", "pass-wash", text}, {"ink", "fail-wash", text}, {"ink", "warn-wash", text},
		{"ink-soft", "fail-wash", text}, {"ink-soft", "warn-wash", text},
		{"fail", "surface", text}, {"warn", "surface", text}, {"pass", "surface", text},
		{"hopper", "surface", line}, {"blackwell", "surface", line}, {"ampere", "surface", line},
		{"ada", "surface", line}, {"older", "surface", line}, {"cpu", "sunken", line}, {"hopper", "accent-wash", line},
		{"line-strong", "surface", line}, {"line-strong", "page", line}, {"accent", "surface", line},
	} {
		front, back := colours[pair.front], colours[pair.back]
		if front.light == "" || back.light == "" {
			t.Errorf("app.css has no colour %s or %s", pair.front, pair.back)
			continue
		}
		if got := contrast(t, front.light, back.light); got < pair.least {
			t.Errorf("light: %s on %s has contrast %.2f, want %.1f", pair.front, pair.back, got, pair.least)
		}
		if got := contrast(t, front.dark, back.dark); got < pair.least {
			t.Errorf("dark: %s on %s has contrast %.2f, want %.1f", pair.front, pair.back, got, pair.least)
		}
	}
}
