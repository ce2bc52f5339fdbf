package sandbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"warpboard/e2e/fuzztest"
	"warpboard/evaluator/sandbox"
)

func TestOutputsThatAreNotPlainFilesAreRefused(t *testing.T) {
	sb := newSandbox(t)
	spec := shell(`cd /out
		ln -s /etc/shadow symlink
		ln -s /usr away
		echo x >one; ln one two
		mkfifo fifo
		mkdir directory
		echo x >'new
line'
		head -c 2000 /dev/zero >large
		mkdir -p sub; echo deep >sub/file
		ln -s sub linked
		echo hidden >mode; chmod 000 mode
		echo good >good`)
	const size = 1000
	spec.CollectFiles = map[string]int64{
		"symlink": size, "away/bin/ls": 1 << 30, "one": size, "two": size, "fifo": size, "directory": size,
		"new\nline": size, "large": size, "linked/file": size, "../in/x": size, "/etc/passwd": size, "": size,
		"sub/file": size, "mode": size, "good": size,
	}
	o := run(t, sb, spec)
	for _, name := range []string{"sub/file", "mode", "good"} {
		if o.Files[name] == nil {
			t.Errorf("%q was refused: %s", name, o.RefusedFiles[name])
		}
	}
	want := map[string]string{
		"symlink": "symbolic link", "away/bin/ls": "symbolic link", "linked/file": "symbolic link",
		"one": "2 hard links", "two": "2 hard links", "fifo": "not a regular file", "directory": "not a regular file",
		"large": "2000 bytes", "new\nline": "not that of an output", "../in/x": "not that of an output",
		"/etc/passwd": "not that of an output", "": "not that of an output",
	}
	for name, reason := range want {
		if !strings.Contains(o.RefusedFiles[name], reason) {
			t.Errorf("%q was refused with %q, want %q", name, o.RefusedFiles[name], reason)
		}
	}
	if len(o.Files) != 3 || len(o.RefusedFiles) != len(want) {
		t.Errorf("collected %d files, refused %d", len(o.Files), len(o.RefusedFiles))
	}
}

func TestLongOutputKeepsItsHeadAndTail(t *testing.T) {
	sb := newSandbox(t)
	tests := map[string]struct{ script, head, tail string }{
		"lines":            {"seq 1 200000", "1\n2\n", "199999\n200000\n"},
		"one endless line": {"head -c 1000000 /dev/zero | tr '\\0' x; echo end", "xxxx", "xend\n"},
		"of two bytes":     {"i=0; yes é | head -n 100000 | tr -d '\\n'; echo end", "éé", "éend\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := run(t, sb, shell(test.script))
			if o.ExitCode != 0 || o.ExceededLimit != "" {
				t.Fatalf("code %d, limit %q", o.ExitCode, o.ExceededLimit)
			}
			if len(o.Stdout) > 65<<10 || !utf8.ValidString(o.Stdout) || strings.Contains(o.Stdout, "\uFFFD") {
				t.Errorf("kept %d bytes, valid: %v", len(o.Stdout), utf8.ValidString(o.Stdout))
			}
			if !strings.HasPrefix(o.Stdout, test.head) || !strings.HasSuffix(o.Stdout, test.tail) ||
				!strings.Contains(o.Stdout, " bytes are cut here]\n") {
				t.Errorf("kept %.20q … %q", o.Stdout, o.Stdout[max(0, len(o.Stdout)-20):])
			}
		})
	}
}

func TestPrintingAGigabyteEndsTheRun(t *testing.T) {
	sb := newSandbox(t)
	begun := time.Now()
	spec := shell("head -c 1G /dev/zero | tr '\\0' x >&2")
	o := run(t, sb, spec)
	if o.ExceededLimit != "output" || o.Stdout != "" || len(o.Stderr) > 65<<10 {
		t.Errorf("limit %q, kept %d and %d bytes", o.ExceededLimit, len(o.Stdout), len(o.Stderr))
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	assertUnharmed(t, sb, 0)
}

func TestCleanOutputIsPrintableAnywhere(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"\x1b]52;c;ZXZpbA==\a", "\uFFFD]52;c;ZXZpbA==\uFFFD"},
		{"nul\x00", "nul\uFFFD"},
		{"windows\r\nover\rwritten", "windows\nover\nwritten"},
		{"\xff\xfe not UTF-8 \xe2\x82", "\uFFFD not UTF-8 \uFFFD"},
		{"C1 \u009b31m", "C1 \uFFFD31m"},
		{"é€😀", "é€😀"},
		{"check: \u202Essap\u202C", "check: [U+202E]ssap[U+202C]"},
	}
	for _, test := range tests {
		if got := sandbox.CleanOutput([]byte(test.in)); got != test.want {
			t.Errorf("Text(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func FuzzCleanOutputIsValidAndIdempotent(f *testing.F) {
	fuzztest.Moment(f)
	for _, seed := range []string{"a\r\nb", "\x00\xff", "\r\r\n", "é\u0085"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text := sandbox.CleanOutput(b)
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r\x1b\a\b") {
			t.Errorf("Text(%q) = %q", b, text)
		}
		if again := sandbox.CleanOutput([]byte(text)); again != text {
			t.Errorf("Text of Text(%q) is %q, not %q", b, again, text)
		}
	})
}

func TestFileNamesLeadNowhereElse(t *testing.T) {
	sb := newSandbox(t)
	for _, name := range []string{"../x", "/etc/x", "a/../../x", "", "."} {
		for field := range 2 {
			spec := shell("echo ran")
			files := map[string][]byte{name: []byte("x")}
			if field == 0 {
				spec.Files = files
			} else {
				spec.WritableFiles = files
			}
			if o, err := sb.Run(t.Context(), spec); err == nil {
				t.Errorf("a run with the file %q was made: %q", name, fmt.Sprint(o))
			}
		}
	}
}

func TestOutputCaptureKeepsHeadTailAndANote(t *testing.T) {
	var c sandbox.OutputCapture
	const head, tail = 48 << 10, 16 << 10
	_, _ = c.Write([]byte("begin" + strings.Repeat("x", head)))
	for range 10 {
		_, _ = c.Write([]byte(strings.Repeat("y", tail/2)))
	}
	_, _ = c.Write([]byte("end"))
	text := c.String()
	if !strings.HasPrefix(text, "begin") || !strings.HasSuffix(text, "end") ||
		!strings.Contains(text, "bytes are cut here]") || len(text) > head+tail+100 {
		t.Errorf("%d bytes: %.20s...%s", len(text), text, text[len(text)-20:])
	}
	var short sandbox.OutputCapture
	_, _ = short.Write([]byte("\xffshort"))
	if short.String() != "\uFFFDshort" {
		t.Errorf("got %q", short.String())
	}
}
