package site

import "testing"

func TestTextOfADownloadIsNoFormula(t *testing.T) {
	for cell, want := range map[string]string{
		"":                  "",
		"matmul":            "matmul",
		"a=b":               "a=b",
		"=1+1":              "'=1+1",
		"@SUM(A1)":          "'@SUM(A1)",
		"+cmd|' /C calc'!A": "'+cmd|' /C calc'!A",
		"-2+3":              "'-2+3",
		"-E5":               "'-E5",
		"\t=1":              "'\t=1",
		"\r=1":              "'\r=1",
		"\n=1":              "'\n=1",
		"-":                 "-",
		"-1.5":              "-1.5",
		"+.5":               "+.5",
		"-1,024.25":         "-1,024.25",
		"-1.5e-07":          "-1.5e-07",
	} {
		if got := escapeCSVFormula(cell); got != want {
			t.Errorf("%q became %q, want %q", cell, got, want)
		}
	}
}
