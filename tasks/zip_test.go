package tasks_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
)

// entry is one entry for rawZip; mode 0 means a regular file.
type entry struct {
	name string
	mode fs.FileMode
	text string
}

func rawZip(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		header.SetMode(e.mode | 0o644)
		f, err := w.CreateHeader(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e.text)); err != nil && !strings.HasSuffix(e.name, "/") {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func many(n int) []entry {
	var out []entry
	for i := range n {
		out = append(out, entry{name: fmt.Sprintf("f%d.py", i)})
	}
	return out
}

func TestBadZipIsRefusedByName(t *testing.T) {
	link := fs.ModeSymlink
	deep := strings.Repeat("d/", 20) + "x"
	cases := map[string]struct {
		data []byte
		want string
	}{
		"not a zip": {[]byte("hello"), "this is not a zip archive"},
		"empty":     {nil, "this is not a zip archive"},
		"cut short": {zipped(t, files{"task.yml": minimal})[:60], "this is not a zip archive"},
		"no task.yml": {zipped(t, files{"a.py": "", "b/c.py": ""}),
			"there is no task.yml: a task is a folder that holds one"},
		"path escape": {rawZip(t, entry{name: "../../etc/cron.d/x"}),
			"../../etc/cron.d/x: points outside the archive"},
		"inner escape": {rawZip(t, entry{name: "a/../../x"}), "a/../../x: points outside the archive"},
		"absolute":     {rawZip(t, entry{name: "/etc/passwd"}), "/etc/passwd: has an absolute path"},
		"drive letter": {rawZip(t, entry{name: "C:/windows/x"}), "C:/windows/x: has an absolute path"},
		"backslash":    {rawZip(t, entry{name: `..\x`}), "has a backslash in its name"},
		"control character": {rawZip(t, entry{name: "a\x1b]52;b"}),
			`"a\x1b]52;b": has a control character in its name`},
		"NUL":           {rawZip(t, entry{name: "a\x00.py"}), `has a control character in its name`},
		"bidi override": {rawZip(t, entry{name: "a\u202ePY.exe"}), `has a control character in its name`},
		"not UTF-8":     {rawZip(t, entry{name: "a\xff"}), `has a name that is not UTF-8`},
		"option":        {rawZip(t, entry{name: "-rf"}), "-rf: has a name that starts with -"},
		"empty part":    {rawZip(t, entry{name: "a//b"}), "a//b: has an empty or . part"},
		"long name": {rawZip(t, entry{name: strings.Repeat("x", 300)}),
			"has a name longer than 240 bytes"},
		"deep": {rawZip(t, entry{name: deep}), "lies deeper than 12 folders"},
		"symlink": {rawZip(t, entry{name: "x", mode: link, text: "/etc/shadow"}),
			"x: is a symbolic link"},
		"symlink folder": {rawZip(t, entry{name: "d", mode: link, text: "/"}, entry{name: "d/etc", text: "x"}),
			"d: is a symbolic link"},
		"device": {rawZip(t, entry{name: "null", mode: fs.ModeDevice | fs.ModeCharDevice}),
			"null: is neither a file nor a folder"},
		"FIFO": {rawZip(t, entry{name: "pipe", mode: fs.ModeNamedPipe}),
			"pipe: is neither a file nor a folder"},
		"socket": {rawZip(t, entry{name: "s", mode: fs.ModeSocket}),
			"s: is neither a file nor a folder"},
		"twice": {rawZip(t, entry{name: "a"}, entry{name: "a"}), "a: is in the zip twice"},
		"differs in case": {rawZip(t, entry{name: "Task.h"}, entry{name: "task.h"}),
			`task.h: differs from "Task.h" only in upper and lower case`},
		"folder differs": {rawZip(t, entry{name: "A/x"}, entry{name: "a/y"}),
			`a: differs from "A" only in upper and lower case`},
		"file and folder":      {rawZip(t, entry{name: "a"}, entry{name: "a/b"}), "a: is in the zip twice"},
		"too many files":       {rawZip(t, many(513)...), "f512.py: is one file too many: at most 512 are allowed"},
		"far too many entries": {rawZip(t, many(2500)...), "the zip has 2500 entries; at most 512 files are allowed"},
		"file too large": {rawZip(t, entry{name: "big", text: strings.Repeat("\x00", 4<<20+1)}),
			"big: is larger than 4 MiB unpacked"},
		"total too large":        {bigFiles(t, 9), "big8: brings the files to more than 32 MiB unpacked"},
		"declared size is a lie": {lying(t), "bomb: "},
		"encrypted":              {encrypted(t), "secret: is encrypted"},
		"unknown method":         {method(t, 99), "odd: is packed by a method that is not supported"},
		"damaged":                {damaged(t), "a.py: cannot be unpacked"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := readZip(c.data)
			wantError(t, err, c.want)
		})
	}
}

// bigFiles returns a zip with n names for the same file of 4 MiB. It compresses the file only once, to save time.
func bigFiles(t testing.TB, n int) []byte {
	t.Helper()
	data := rawZip(t, entry{name: "big", text: strings.Repeat("\x00", 4<<20)})
	one, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := one.File[0].OpenRaw()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := io.ReadAll(raw)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := range n {
		header := one.File[0].FileHeader
		header.Name = fmt.Sprintf("big%d", i)
		f, err := w.CreateRaw(&header)
		if err == nil {
			_, err = f.Write(packed)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// patched overwrites bytes in both headers of a zip's only entry: at offset local of the local file header, and at
// offset central of the header in the central directory.
func patched(t testing.TB, data []byte, local, central int, value ...byte) []byte {
	t.Helper()
	out := bytes.Clone(data)
	copy(out[local:], value)
	at := bytes.LastIndex(out, []byte("PK\x01\x02"))
	if at < 0 {
		t.Fatal("the zip has no central header")
	}
	copy(out[at+central:], value)
	return out
}

// lying returns a zip whose headers state 10 bytes for a file with 8 MiB of zeros.
func lying(t testing.TB) []byte {
	data := rawZip(t, entry{name: "bomb", text: strings.Repeat("\x00", 8<<20)})
	return patched(t, data, 22, 24, 10, 0, 0, 0)
}

func encrypted(t testing.TB) []byte {
	return patched(t, rawZip(t, entry{name: "secret", text: "x"}), 6, 8, 1)
}

func method(t testing.TB, id byte) []byte {
	return patched(t, rawZip(t, entry{name: "odd", text: "x"}), 8, 10, id, 0)
}

func damaged(t testing.TB) []byte {
	data := rawZip(t, entry{name: "a.py", text: strings.Repeat("print(1)\n", 100)})
	copy(data[40:], "\xff\xff\xff\xff")
	return data
}

func TestZipOfOneFolderTopOrBelowIsRead(t *testing.T) {
	reference := "def generate_input(): pass"
	cases := map[string]struct {
		content files
		want    []string
	}{
		"top":        {files{"task.yml": minimal, "reference.py": reference}, []string{"upload"}},
		"one folder": {files{"add/task.yml": minimal, "add/reference.py": reference}, []string{"add"}},
		"deeper": {files{"repo-main/problems/add/task.yml": minimal,
			"repo-main/problems/add/reference.py": reference}, []string{"add"}},
		"two tasks": {files{"a/task.yml": minimal, "a/reference.py": "", "b/task.yml": minimal,
			"b/reference.py": ""}, []string{"a", "b"}},
		"archiver junk": {files{"add/task.yml": minimal, "add/reference.py": "", "__MACOSX/add/._task.yml": "\x00",
			"add/.DS_Store": "\x00"}, []string{"add"}},
		"below a task": {files{"task.yml": minimal, "reference.py": "", "old/task.yml": "nonsense"},
			[]string{"upload"}},
		"folder entries": {files{"add/task.yml": minimal, "add/reference.py": ""}, []string{"add"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bundles, err := readZip(zipped(t, c.content))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range bundles {
				got = append(got, b.Name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("tasks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSharedFilesAboveTheFolderAreReadWithinTheUpload(t *testing.T) {
	yaml := minimal + "  - {name: utils.py, source: ../../shared/utils.py}\n"
	content := files{"set/add/task.yml": yaml, "set/add/reference.py": "", "shared/utils.py": "x = 1"}
	bundles, err := readZip(zipped(t, content))
	if err != nil {
		t.Fatal(err)
	}
	sources, err := bundles[0].ProgramFiles(tasks.Submission{Source: []byte("print()")})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"reference.py": "", "utils.py": "x = 1", "submission.py": "print()"}
	got := map[string]string{}
	for name, text := range sources {
		got[name] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}

	content["set/add/task.yml"] = strings.Replace(yaml, "../../shared", "../../../shared", 1)
	_, err = readZip(zipped(t, content))
	wantError(t, err, `"../../../shared/utils.py" lies outside the folder or zip`)
}

func TestFolderOnDiskIsReadWithoutFollowingLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "problems", "set", "add")
	write(t, filepath.Join(dir, "task.yml"), minimal+"  - {name: utils.py, source: ../../utils.py}\n")
	write(t, filepath.Join(dir, "reference.py"), "")
	write(t, filepath.Join(dir, "../../utils.py"), "x = 1")
	read := func() (*tasks.Bundle, error) {
		upload, err := tasks.OpenPath(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer upload.Close()
		list, err := upload.Proposals(now)
		if err != nil {
			return nil, err
		}
		return list[0].Bundle, nil
	}
	b, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if b.Name != "add" || size(b)-len(b.Files[tasks.TaskFile]) != 5 {
		t.Errorf("read %q with %d bytes, want add with 5", b.Name, size(b))
	}

	target := filepath.Join(dir, "reference.py")
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", target); err != nil {
		t.Fatal(err)
	}
	_, err = read()
	wantError(t, err, `files[0].source: "set/add/reference.py" is not a regular file`)
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
