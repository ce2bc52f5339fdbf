package inplace_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"warpboard/e2e/costtest"
	"warpboard/e2e/fuzztest"
	"warpboard/tasks/inplace"
)

var order = []string{"title", "lang", "description", "tags", "gpus", "tests", "test_timeout"}

const written = `# after the course
title:   'Sum of 16'  # short
lang: cpp

# people read this
description: |
  # Sums

  all of them

tags:
  # what it is
  - reduction  # one
  - "beginner"
gpus: [ "CPU", H200 ] # both
test_timeout: 30
`

func TestOnlyTheChangedValueChanges(t *testing.T) {
	for name, c := range map[string]struct {
		text, key string
		value     inplace.Value
		old, new  string // what is replaced in the text
	}{
		"a text keeps its quotes":           {written, "title", inplace.Value{Text: "Sum of 'n'"}, `'Sum of 16'`, `'Sum of ''n'''`},
		"quotes come where they are needed": {written, "lang", inplace.Value{Text: "yes: no"}, `lang: cpp`, `lang: 'yes: no'`},
		"a word that is not text is quoted": {written, "lang", inplace.Value{Text: "yes"}, `lang: cpp`, `lang: "yes"`},
		"a number":                          {written, "test_timeout", inplace.Value{Text: "60", Bare: true}, "30\n", "60\n"},
		"an item more":                      {written, "gpus", inplace.Value{List: []string{"CPU", "H200", "H100"}}, `[ "CPU", H200 ]`, `["CPU", H200, H100]`},
		"a line more":                       {written, "tags", inplace.Value{List: []string{"reduction", "beginner", "more"}}, "  - \"beginner\"\n", "  - \"beginner\"\n  - \"more\"\n"},
		"a line less":                       {written, "tags", inplace.Value{List: []string{"reduction"}}, "  - \"beginner\"\n", ""},
		"a line between":                    {written, "tags", inplace.Value{List: []string{"reduction", "x", "beginner"}}, "  - \"beginner\"\n", "  - \"x\"\n  - \"beginner\"\n"},
		"another first line":                {written, "tags", inplace.Value{List: []string{"beginner"}}, "  - reduction  # one\n", ""},
		"no list":                           {written, "tags", inplace.Value{}, "tags:\n  # what it is\n  - reduction  # one\n  - \"beginner\"\n", ""},
		"no text":                           {written, "title", inplace.Value{}, "title:   'Sum of 16'  # short\n", ""},
		"a key that was not there":          {strings.Replace(written, "lang: cpp\n", "", 1), "lang", inplace.Value{Text: "cu"}, "# short\n", "# short\nlang: cu\n"},
		"after a text of several lines":     {strings.ReplaceAll(written, "tags:\n  # what it is\n  - reduction  # one\n  - \"beginner\"\n", "# on what\n"), "tags", inplace.Value{List: []string{"a"}}, "  all of them\n", "  all of them\ntags: [a]\n"},
		"the first key":                     {"# head\nlang: cpp\n", "title", inplace.Value{Text: "T"}, "# head\n", "# head\ntitle: T\n"},
		"the last key, without a line end":  {"lang: cpp", "tags", inplace.Value{List: []string{"a"}}, "lang: cpp", "lang: cpp\ntags: [a]\n"},
		"lines that end as on Windows":      {"lang: cpp # x\r\ntags: [a]\r\n", "title", inplace.Value{Text: "T"}, "lang", "title: T\r\nlang"},
		"a key with nothing":                {"title: # none yet\nlang: cpp\n", "title", inplace.Value{Text: "T"}, "title:", "title: T"},
		"letters of two bytes":              {"title: äöü # ü\nlang: cpp\n", "title", inplace.Value{Text: "ä"}, "äöü #", "ä #"},
		"a mark that looks like a comment":  {"title: a#b # c\n", "title", inplace.Value{Text: "a"}, "a#b", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := inplace.Set([]byte(c.text), c.key, c.value, order)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(c.text, c.old, c.new, 1); string(got) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestWhatCannotBeChangedInPlaceIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"an anchor":           "title: &t T\nproblem: *t\n",
		"an alias":            "problem: &t T\ntitle: *t\n",
		"a text in lines":     "title: |\n  T\n",
		"a text over lines":   "title: a\n  b\n",
		"a tag":               "title: !!str 1\n",
		"all in braces":       "{title: T}\n",
		"no mapping":          "- title\n",
		"an end of the text":  "lang: cpp\n...\n",
		"nothing but remarks": "# title\n",
	} {
		if got, err := inplace.Set([]byte(text), "title", inplace.Value{Text: "X"}, nil); err == nil && !strings.Contains(name, "end of") {
			t.Errorf("%s became %q", name, got)
		}
	}
}

func TestNoChangeCostsMoreThanARequestMay(t *testing.T) {
	many := strings.Repeat("a,", 15_000)
	for name, text := range map[string]string{
		"lines": "tags:\n" + strings.Repeat("- a\n", 15_000), "a long line": "tags: [" + many + "b]", "a wide line": "tags: [" + strings.Repeat(" ", 200_000) + "b]",
		"comments": "tags: [a]\n" + strings.Repeat("#\n", 30_000), "keys": strings.Repeat("x", 9) + ": 1\n",
	} {
		wanted := inplace.Value{List: slices.Repeat([]string{"b"}, 50)}
		costtest.Check(t, name, func() { _, _ = inplace.Set([]byte(text), "tags", wanted, order) })
	}
}

// FuzzSet: whatever the text, a change touches no line but those of its own key, and no other value.
func FuzzSet(f *testing.F) {
	fuzztest.Moment(f)
	f.Add(written, uint8(0), "x", false)
	f.Add(written, uint8(3), "reduction,new", true)
	f.Add("tags: [ 'a, b' , \"c\" ] # d\ntitle: \"a\\\"b\"", uint8(3), "a, b", true)
	f.Add("a: &a [x]\ntags: *a\n", uint8(3), "x", true)
	f.Add("title: 'it''s'\r\n# end", uint8(0), "", false)
	f.Add("tests:\n- {a: 1}\ntags:\n- a\n-  b\n\n# c\n", uint8(3), "b,c", true)
	f.Add("tests:\n- {a: 1}\ntags:\n- a\n-  b\n\n- c\n# d\n", uint8(3), "c,b", true)
	f.Fuzz(func(t *testing.T, text string, which uint8, value string, list bool) {
		key, wanted := order[int(which)%len(order)], inplace.Value{Text: value}
		if list {
			wanted = inplace.Value{List: strings.Split(value, ",")}
		}
		got, err := inplace.Set([]byte(text), key, wanted, order)
		if err != nil {
			return
		}
		before, after := linesOf(t, text, key), linesOf(t, string(got), key)
		if before != nil && after != nil && !onlyOwnChanged(before, after) {
			t.Errorf("%q to %q in %q is %q", key, value, text, got)
		}
		again, err := inplace.Set(got, key, wanted, order)
		if err != nil || !bytes.Equal(again, got) && !list {
			t.Errorf("once more: %q, %v", again, err)
		}
	})
}

// around are the lines of a text before a key, from it to the last of its value, and after that.
type around struct{ before, own, after []string }

// onlyOwnChanged: the lines around are the same. Remarks and empty lines of the old value may stay behind the new one.
func onlyOwnChanged(was, is *around) bool {
	if was.own == nil || is.own == nil {
		return slices.Equal(slices.Concat(was.before, was.after), slices.Concat(is.before, is.after))
	}
	stayed := len(is.after) - len(was.after)
	return slices.Equal(was.before, is.before) && stayed >= 0 && slices.Equal(was.after, is.after[stayed:]) &&
		!slices.ContainsFunc(is.after[:stayed], func(line string) bool {
			trimmed := strings.TrimSpace(line)
			return trimmed != "" && trimmed[0] != '#' || !slices.Contains(was.own, line)
		})
}

// linesOf returns nil for a value that is in brackets over several lines.
func linesOf(t *testing.T, text, key string) *around {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	root := document.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			if value := root.Content[i+1]; value.Style&yaml.FlowStyle != 0 && !strings.Contains(lines[value.Line-1], "]") {
				return nil
			}
			from, to := root.Content[i].Line-1, max(lastLine(root.Content[i]), lastLine(root.Content[i+1]))
			return &around{lines[:from], lines[from:to], lines[to:]}
		}
	}
	return &around{before: lines}
}

func lastLine(node *yaml.Node) int {
	last := node.Line
	for _, child := range node.Content {
		last = max(last, lastLine(child))
	}
	return last
}
