package tasks_test

import (
	"fmt"
	"strings"
	"testing"

	"warpboard/tasks"
)

// TestCaseValuesAreWrittenAsPythonDoes checks that values have the text that Python 3.11 with PyYAML 6.0 prints for
// str(yaml.safe_load(value)).
func TestCaseValuesAreWrittenAsPythonDoes(t *testing.T) {
	values := [][2]string{
		{`0`, `0`}, {`-0`, `0`}, {`+7`, `7`}, {`12`, `12`}, {`1_000`, `1000`}, {`012`, `10`}, {`08`, `08`},
		{`0x1F`, `31`}, {`0x_f`, `15`}, {`0b101`, `5`}, {`0o17`, `0o17`}, {`1:30`, `90`}, {`-1:30`, `-90`},
		{`190:20:30.15`, `685230.15`}, {`100000000000000000000`, `100000000000000000000`},
		{`1e5`, `1e5`}, {`1e16`, `1e16`}, {`1.5`, `1.5`}, {`1.0e-5`, `1e-05`}, {`1.e+3`, `1000.0`}, {`.5`, `0.5`},
		{`-.5`, `-.5`}, {`+.5`, `+.5`}, {`0.00001`, `1e-05`}, {`1.0e+16`, `1e+16`}, {`1.0e+15`, `1000000000000000.0`},
		{`1.0e-4`, `0.0001`}, {`123456789012345.6`, `123456789012345.6`}, {`12345678.9`, `12345678.9`},
		{`2.5e-300`, `2.5e-300`}, {`1.0e+400`, `inf`}, {`.inf`, `inf`}, {`-.inf`, `-inf`}, {`.nan`, `nan`},
		{`1_0.5`, `10.5`}, {`0.1`, `0.1`}, {`3.0`, `3.0`}, {`1.2.3`, `1.2.3`},
		{`true`, `True`}, {`True`, `True`}, {`TRUE`, `True`}, {`yes`, `True`}, {`No`, `False`}, {`off`, `False`},
		{`on`, `True`}, {`y`, `y`}, {`n`, `n`}, {`null`, `None`}, {`~`, `None`}, {`Null`, `None`}, {`None`, `None`},
		{`'quoted'`, `quoted`}, {`"1"`, `1`}, {`2024-01-02`, `2024-01-02`}, {`a_b1`, `a_b1`}, {`'-'`, `-`},
		{`!!str 5`, `5`}, {`!!int "5"`, `5`},
		{`[1, 2]`, `[1, 2]`}, {`[a, 'b', 1.0, true, null]`, `['a', 'b', 1.0, True, None]`},
		{`[[1, 2], [3]]`, `[[1, 2], [3]]`}, {`[]`, `[]`},
		{`["it's", "q\"", "both'\"", "back\\slash", "new\nline", "é", "\u200b"]`,
			`["it's", 'q"', 'both\'"', 'back\\slash', 'new\nline', 'é', '\u200b']`},
	}
	for _, v := range values {
		b := mustTask(t, minimal+"tests:\n  - a: "+v[0]+"\n")
		if got := b.Definition.Tests[0][0].Value; got != v[1] {
			t.Errorf("%s became %s, Python writes %s", v[0], got, v[1])
		}
	}
}

// TestQuotedValuesStayTexts checks that Python's ast.literal_eval reads a quoted value of a case as a text, except for
// whole numbers, which are numbers in KernelBot too.
func TestQuotedValuesStayTexts(t *testing.T) {
	values := [][2]string{ // value in task.yml, and its text for ast.literal_eval in the harness of Warpboard
		{`"1e3"`, `'1e3'`}, {`"None"`, `'None'`}, {`'True'`, `'True'`}, {`"[1, 2]"`, `'[1, 2]'`},
		{`"(1, 2)"`, `'(1, 2)'`}, {`"{1: 2}"`, `'{1: 2}'`},
		{`"'a'"`, `"'a'"`}, {`'"'`, `'"'`}, {`"-.5"`, `'-.5'`}, {`"0x10"`, `'0x10'`}, {`"1_000"`, `'1_000'`},
		{`"2j"`, `'2j'`}, {`"b'x'"`, `"b'x'"`}, {`!!str 1e3`, `'1e3'`},
		{`"42"`, `42`}, {`"-7"`, `-7`}, {`"007"`, `007`}, {`"a: b, 'c' \"d\""`, `a: b, 'c' "d"`},
		{`"bfloat16"`, `bfloat16`}, {`"1024x1024"`, `1024x1024`},
		{`1e-5`, `1e-5`}, {`1.0e-5`, `1e-05`}, {`~`, `None`}, {`(1, 2)`, `(1, 2)`}, {`.inf`, `inf`},
		{`["1e3", 'it''s', "q\"'\\", 1.0e+16, .inf, ~, yes, [-2]]`,
			`['1e3', "it's", 'q"\'\\', 1e+16, inf, None, True, [-2]]`},
	}
	for _, v := range values {
		b := mustTask(t, minimal+"tests:\n  - a: "+v[0]+"\n")
		if got := b.Definition.Tests[0][0].Value; got != v[1] {
			t.Errorf("%s became %s, want %s", v[0], got, v[1])
		}
		delete(b.Files, tasks.TaskFile) // so that task.yml is written from the definition
		if got := again(t, b).Definition.Tests[0][0].Value; got != v[1] {
			t.Errorf("%s is %s when it is written and read again, want %s", v[0], got, v[1])
		}
	}
	for name, other := range map[string]string{
		"own eval program": strings.Replace(minimal, "files:\n",
			"tests: [{a: \"1e3\"}]\nfiles:\n  - {name: eval.py, source: eval.py}\n", 1),
		"C++": strings.Replace(cpp(""), "{", "{tests: [{a: \"1e3\"}], ", 1),
	} {
		b := mustTask(t, other)
		delete(b.Files, tasks.TaskFile)
		if got := again(t, b).Definition.Tests[0][0].Value; got != "1e3" {
			t.Errorf("%s: the text is %s", name, got)
		}
	}
}

func TestHostileYAMLIsRefused(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 9; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	cases := map[string]struct{ yaml, want string }{
		"alias bomb":      {bomb, "has more than 20000 values, aliases followed"},
		"alias of itself": {"lang: &a [*a]\n", "is nested deeper than 16 levels"},
		"depth": {"lang: " + strings.Repeat("[", 500) + strings.Repeat("]", 500),
			"is nested deeper than 16 levels"},
		"duplicate key":     {"lang: py\nlang: cu\n", `task.yml:2: the key "lang" appears twice (first in line 1)`},
		"duplicate in case": {minimal + "tests: [{a: 1, a: 2}]\n", `task.yml:6: the key "a" appears twice`},
		"key is a list":     {"[a]: 1\n", "a key must be plain text"},
		"tag":               {"lang: !!python/object:os.system x\n", "the tag"},
		"second document":   {minimal + "---\nlang: cu\n", "holds a second YAML document"},
		"empty":             {"", "task.yml: is empty"},
		"a list":            {"[1, 2]", "must be a mapping of keys to values"},
		"a word":            {"hello", "must be a mapping of keys to values"},
		"broken":            {"lang: py\nfiles: [\n", "not valid YAML"},
		"tab": {"lang: py\n\tfiles: 1\n",
			"task.yml:2: the line is indented with a tab: YAML takes only spaces"},
		"tab before a list": {"lang: py\nfiles:\n\t- {name: a}\n", "task.yml:3: the line is indented with a tab"},
		"not UTF-8":         {"lang: \xff\n", "task.yml: is not UTF-8 text"},
		"too large":         {"# " + strings.Repeat("x", 300<<10), "task.yml: is larger than 256 KiB"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := task(t, c.yaml)
			wantError(t, err, c.want)
		})
	}
}

func TestAliasesAndMergeKeysAreFollowed(t *testing.T) {
	b := mustTask(t, minimal+"tests:\n  - &base {size: 8, seed: 1}\n  - {<<: *base, seed: 2}\n  - *base\n")
	want := "size: 8; seed: 2" // the order that PyYAML returns
	if got := b.Definition.Tests[1].String(); got != want {
		t.Errorf("the merged case is %q, want %q", got, want)
	}
	if got := b.Definition.Tests[2].String(); got != "size: 8; seed: 1" {
		t.Errorf("the aliased case is %q", got)
	}
}
