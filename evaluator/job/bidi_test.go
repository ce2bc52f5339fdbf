package job

import "testing"

func TestControlsOfDirectionAreShown(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"plain, ünïcode, עברית, 日本":       "plain, ünïcode, עברית, 日本",
		"pass\u202Eliaf":                  "pass[U+202E]liaf",
		"/*\u2067 } \u2069\u2066 begin*/": "/*[U+2067] } [U+2069][U+2066] begin*/",
		"\u061C\u200E\u200F\u202A\u202B\u202C\u202D\u2068": "[U+061C][U+200E][U+200F][U+202A][U+202B][U+202C][U+202D][U+2068]",
	} {
		if got := MarkBidiControls(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
