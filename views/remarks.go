package views

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"html"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"warpboard/views/format"
)

// maxRemarks limits the remarks on one source; a missing bracket can cause hundreds.
const maxRemarks = 100

// Remark is a message of a compiler, an interpreter, or compute-sanitizer about a line.
type Remark struct {
	Line    int
	IsError bool // false for a warning
	Text    string
	File    string // further file with the line; empty for the main one
}

// SourceNames has the names by which compiler messages call the files of a submission.
type SourceNames struct {
	MainFileNames []string // names of its main file
	// IsAdditionalFile reports whether a name is a further file of the submission; nil if there are none.
	IsAdditionalFile func(name string) bool
}

// submittedFileName returns the name of a submitted file for a name in a compiler message; "" is the main file. ours is
// false if the file is not from the submission.
func (s SourceNames) submittedFileName(message string) (name string, ours bool) {
	name = path.Base(message)
	if slices.Contains(s.MainFileNames, name) {
		return "", true
	}
	return name, s.IsAdditionalFile != nil && s.IsAdditionalFile(name)
}

// RemarksOnFile returns the remarks on one file; "" is the main file.
func RemarksOnFile(all []Remark, file string) (found []Remark) {
	for _, r := range all {
		if r.File == file {
			found = append(found, r)
		}
	}
	return found
}

var (
	// nvcc: submission.cu(3): error: expected a ";"; warning #177-D: …
	nvccMessageLine = regexp.MustCompile(`^(\S+?)\((\d+)\): (catastrophic error|error|warning)\b ?(?:#\S+)?:?\s*(.+)$`)
	// g++: submission.cpp:3:12: error: …
	gccMessageLine = regexp.MustCompile(`^(\S+?):(\d+):(?:\d+:)? (fatal error|error|warning): (.+)$`)
	// Python: File "/out/submission.py", line 3, and the line of the error some lines below
	pythonTracebackLine = regexp.MustCompile(`^\s*File "([^"]+)", line (\d+)`)
	pythonErrorLine     = regexp.MustCompile(`^([A-Z]\w*(?:Error|Exception|Warning|Interrupt)\b.*)$`)
)

// ParseRemarks returns the remarks on the files of a submission, those on the main file first, sorted by line.
func ParseRemarks(output string, of SourceNames) []Remark {
	var remarks []Remark
	add := func(file, line string, wrong bool, text string) {
		n, err := strconv.Atoi(line)
		name, ours := of.submittedFileName(file)
		remark := Remark{Line: n, IsError: wrong, Text: strings.TrimSpace(text), File: name}
		if err != nil || n <= 0 || !ours || len(remarks) >= maxRemarks || slices.Contains(remarks, remark) {
			return
		}
		remarks = append(remarks, remark)
	}
	var place []string // last match of a Python traceback line in a submitted file
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if m := nvccMessageLine.FindStringSubmatch(line); m != nil {
			add(m[1], m[2], m[3] != "warning", m[4])
		} else if m := gccMessageLine.FindStringSubmatch(line); m != nil {
			add(m[1], m[2], m[3] != "warning", m[4])
		} else if m := pythonTracebackLine.FindStringSubmatch(line); m != nil {
			if _, ours := of.submittedFileName(m[1]); ours {
				place = m
			}
		} else if m := pythonErrorLine.FindStringSubmatch(line); m != nil && place != nil {
			add(place[1], place[2], true, m[1])
			place = nil
		}
	}
	slices.SortStableFunc(remarks, func(a, b Remark) int { return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line) })
	return remarks
}

// lastException returns the last exception in the output of a program, with the last line of its traceback that is in
// the submission; "" if there is none.
func lastException(output string, of SourceNames) (message string) {
	place := ""
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if m := pythonTracebackLine.FindStringSubmatch(line); m != nil {
			if _, ours := of.submittedFileName(m[1]); ours {
				place = " at " + path.Base(m[1]) + ":" + m[2]
			}
		} else if m := pythonErrorLine.FindStringSubmatch(line); m != nil {
			name, text, _ := strings.Cut(m[1], ": ")
			message, place = name+place, ""
			if len(text) > maxQuotedBytes {
				text = strings.ToValidUTF8(text[:maxQuotedBytes], "") + "…"
			}
			if text != "" {
				message += ": " + text
			}
		}
	}
	return message
}

// maxQuotedBytes limits the quoted part of an exception, in bytes.
const maxQuotedBytes = 200

// anchor returns the ID of the line on the page of the source.
func (r Remark) anchor() string {
	if r.File == "" {
		return fmt.Sprintf("L%d", r.Line)
	}
	return fmt.Sprintf("%s-L%d", r.File, r.Line)
}

// lineText returns the line number, with the name of the file if it is not the main file.
func (r Remark) lineText() string {
	if r.File == "" {
		return fmt.Sprintf("line %d", r.Line)
	}
	return fmt.Sprintf("%s line %d", r.File, r.Line)
}

func (r Remark) kind() string {
	if r.IsError {
		return "error"
	}
	return "warning"
}

// annotatedText returns the text of the file with each remark below its line.
func (f SourceFile) annotatedText() templ.Component {
	if len(f.Remarks) == 0 {
		return f.HTML
	}
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var buf bytes.Buffer
		if err := f.HTML.Render(ctx, &buf); err != nil {
			return err
		}
		_, err := io.WriteString(w, annotateSource(buf.String(), f.Remarks))
		return err
	})
}

// annotateSource adds remarks to highlighted HTML. Each of its lines begins with <span class="line"> and contains an
// element with the ID of the line number.
func annotateSource(text string, remarks []Remark) string {
	var out strings.Builder
	remarks = slices.Clone(remarks)
	slices.SortStableFunc(remarks, func(a, b Remark) int { return a.Line - b.Line })
	anchor := ""
	for _, r := range remarks {
		if r.anchor() != anchor {
			anchor = r.anchor()
			at := strings.Index(text, fmt.Sprintf(`id="%s"`, html.EscapeString(anchor)))
			if at < 0 {
				break // the remark's line is beyond the end of the file
			}
			end := at + max(strings.Index(text[at:], `<span class="line`), 0)
			if end == at {
				end = strings.LastIndex(text, codeBlockEnd)
			}
			out.WriteString(text[:end])
			text = text[end:]
		}
		fmt.Fprintf(&out, `<span class="remark remark-%s" role="note"><b>%s</b> %s</span>`, r.kind(), format.UpperFirst(r.kind()), html.EscapeString(r.Text))
	}
	return out.String() + text
}
