package pools

import (
	"testing"

	"warpboard/tasks"
)

func TestEqualSourcesHaveOneKey(t *testing.T) {
	const source = "int a = 1;\n  // two\nint b;\n"
	for name, c := range map[string]struct {
		other string
		equal bool
	}{
		"the same":                {source, true},
		"lines of Windows":        {"int a = 1;\r\n  // two\r\nint b;\r\n", true},
		"lines of old Macs":       {"int a = 1;\r  // two\rint b;\r", true},
		"a byte order mark":       {"\uFEFF" + source, true},
		"blanks that end a line":  {"int a = 1; \t\n  // two\nint b;  \n", true},
		"blank lines":             {"\n\nint a = 1;\n   \n  // two\n\n\nint b;", true},
		"another indent":          {"int a = 1;\n// two\nint b;\n", false},
		"another comment":         {"int a = 1;\n  // 2\nint b;\n", false},
		"another name":            {"int c = 1;\n  // two\nint b;\n", false},
		"two lines that were one": {"int a =\n1;\n  // two\nint b;\n", false},
	} {
		key := func(text string) string { return Key(tasks.Submission{Source: []byte(text)}) }
		if got := key(c.other) == key(source); got != c.equal {
			t.Errorf("%s: equal is %v, want %v", name, got, c.equal)
		}
	}
}

func TestEachFileOfASourceCounts(t *testing.T) {
	source := func(main, name, text string) string {
		return Key(tasks.Submission{Source: []byte(main), Files: map[string][]byte{name: []byte(text)}})
	}
	if source("a", "b.h", "b\n\n") != source("a", "b.h", "b") {
		t.Error("a blank line in a further file makes another source")
	}
	for _, other := range []string{source("a", "b.h", "c"), source("a", "c.h", "b"), source("b", "b.h", "a"), Key(tasks.Submission{Source: []byte("a")})} {
		if other == source("a", "b.h", "b") {
			t.Error("another source has the same key")
		}
	}
}
