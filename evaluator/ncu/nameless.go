package ncu

import (
	"fmt"
	"slices"
	"strings"
)

// HideProgram returns a copy of the report for readers who may not see the program: without source and instructions,
// and with numbers instead of kernel names, which the program chooses. Launches of the same kernel have the same
// number. The copy shares metrics with r.
func (r *Report) HideProgram() *Report {
	shown, numbers := *r, map[string]string{}
	shown.Kernels = slices.Clone(r.Kernels)
	for i := range shown.Kernels {
		k := &shown.Kernels[i]
		number, known := numbers[k.Name]
		if !known {
			number = fmt.Sprintf("kernel %d", len(numbers)+1)
			numbers[k.Name] = number
		}
		k.Rules = slices.Clone(k.Rules)
		for at, rule := range k.Rules {
			k.Rules[at].Message = k.hideName(rule.Message, number)
		}
		k.Name, k.ShortName, k.ProcessName, k.Source = number, number, "", nil
	}
	shown.Warnings = slices.Clone(r.Warnings)
	for i := range r.Kernels {
		k := &r.Kernels[i]
		for at, warning := range shown.Warnings {
			shown.Warnings[at] = k.hideName(warning, numbers[k.Name])
		}
	}
	return &shown
}

// hideName replaces the kernel's name in a sentence by name.
func (k *Kernel) hideName(sentence, name string) string {
	return replaceName(replaceName(sentence, k.Name, name), k.ShortName, name)
}

// replaceName replaces a name only if it is a whole word: "k" does not match in "kernel".
func replaceName(text, name, by string) string {
	if name == "" {
		return text
	}
	var out strings.Builder
	for at := 0; ; {
		found := strings.Index(text[at:], name)
		if found < 0 {
			return out.String() + text[at:]
		}
		from, to := at+found, at+found+len(name)
		out.WriteString(text[at:from])
		if from > 0 && isIdentifierByte(text[from-1]) && isIdentifierByte(name[0]) || to < len(text) && isIdentifierByte(text[to]) && isIdentifierByte(name[len(name)-1]) {
			out.WriteString(text[from:to])
		} else {
			out.WriteString(by)
		}
		at = to
	}
}

func isIdentifierByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
