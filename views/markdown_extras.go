package views

import (
	"bytes"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/a-h/templ"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// formulaParser parses LaTeX, because Markdown would interpret its underscores and backslashes: $…$, $$…$$, \(…\),
// \[…\] at the beginning of a line, and \begin{…}…\end{…}.
type formulaParser struct{}

var formulaStart = regexp.MustCompile(`^(\$\$?|\\\(|\\\[|\\begin\{([a-z]+\*?)\})`)

// Trigger returns the first characters of formulas.
func (formulaParser) Trigger() []byte { return []byte{'$', '\\'} }

// Parse parses a formula.
func (formulaParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	found := formulaStart.FindSubmatch(line)
	if found == nil || isWordRune(block.PrecendingCharacter()) || string(found[1]) == `\[` && block.PrecendingCharacter() != '\n' {
		return nil
	}
	open, end := len(found[1]), string(found[1])
	switch {
	case end == "$" && (len(line) == 1 || unicode.IsSpace(rune(line[1]))): // a plain dollar sign, not a formula
		return nil
	case end[0] == '\\' && len(found[2]) > 0: // \begin{…}: part of the formula
		open, end = 0, `\end{`+string(found[2])+`}`
	case end[0] == '\\':
		end = map[string]string{`\(`: `\)`, `\[`: `\]`}[end]
	}
	at, position := block.Position()
	block.Advance(open)
	span := &formula{isOnOwnLine: end != "$" && end != `\)`}
	for line, segment := block.PeekLine(); line != nil; line, segment = block.PeekLine() {
		if stop := formulaEnd(line, end); stop >= 0 {
			if open == 0 {
				stop += len(end)
				block.Advance(stop)
			} else {
				block.Advance(stop + len(end))
			}
			span.AppendChild(span, ast.NewRawTextSegment(segment.WithStop(segment.Start+stop)))
			return span
		}
		if end == "$" {
			break
		}
		if span.HasChildren() || strings.TrimSpace(string(line)) != "" {
			span.AppendChild(span, ast.NewRawTextSegment(segment))
		}
		block.AdvanceLine()
	}
	block.SetPosition(at, position)
	return nil
}

// formulaEnd returns the index of the end of a formula in a line, or -1. A single dollar sign ends a formula only
// directly after and not directly before a character; otherwise prices and shell variables would become formulas.
func formulaEnd(line []byte, end string) int {
	for from := 0; ; {
		i := bytes.Index(line[from:], []byte(end))
		if i < 0 || end != "$" {
			return i
		}
		i += from
		after := byte(' ')
		if i+1 < len(line) {
			after = line[i+1]
		}
		if i > 0 && !unicode.IsSpace(rune(line[i-1])) && line[i-1] != '\\' && !isWordRune(rune(after)) {
			return i
		}
		from = i + 1
	}
}

// rawHTMLRenderer renders the checkboxes of task lists as text, and removes raw HTML except for <details> and
// <summary>.
type rawHTMLRenderer struct{}

// RegisterFuncs registers the renderers.
func (rawHTMLRenderer) RegisterFuncs(to renderer.NodeRendererFuncRegisterer) {
	to.Register(east.KindTaskCheckBox, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		box := "☐ "
		if n.(*east.TaskCheckBox).IsChecked {
			box = "☑ "
		}
		if entering {
			_, _ = w.WriteString(box)
		}
		return ast.WalkContinue, nil
	})
	to.Register(formulaNodeKind, func(w util.BufWriter, _ []byte, n ast.Node, _ bool) (ast.WalkStatus, error) {
		if f := n.(*formula); f.insertedHTML != "" {
			_, _ = w.WriteString(f.insertedHTML)
			f.insertedHTML = ""
		}
		return ast.WalkSkipChildren, nil
	})
	to.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if raw := string(n.Lines().Value(source)); entering && rawFoldTag.MatchString(raw) {
			writeWithFoldTagsOnly(w, raw)
		}
		return ast.WalkContinue, nil
	})
	to.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if raw := string(n.(*ast.RawHTML).Segments.Value(source)); entering && rawFoldTag.MatchString(raw) {
			writeWithFoldTagsOnly(w, raw)
		}
		return ast.WalkSkipChildren, nil
	})
}

var (
	rawFoldTag = regexp.MustCompile(`<(/?(?:details|summary)|details open)>`)
	anyHTMLTag = regexp.MustCompile(`<[^>]*>`)
	// foldTag matches the tags of details and summary after filtering.
	foldTag = regexp.MustCompile(`</?(?:details|summary)[^>]*>`)
)

// writeWithFoldTagsOnly writes the tags of details and summary and the text around them, without other tags.
func writeWithFoldTagsOnly(w util.BufWriter, raw string) {
	plain := func(text string) string {
		return templ.EscapeString(html.UnescapeString(anyHTMLTag.ReplaceAllString(text, "")))
	}
	last := 0
	for _, at := range rawFoldTag.FindAllStringIndex(raw, -1) {
		_, _ = w.WriteString(plain(raw[last:at[0]]) + raw[at[0]:at[1]])
		last = at[1]
	}
	_, _ = w.WriteString(plain(raw[last:]))
}

// balanceFoldTags closes open details and summary tags and removes unmatched closing ones, which would close elements
// of the page.
func balanceFoldTags(text string) string {
	var open, closed []string
	text = foldTag.ReplaceAllStringFunc(text, func(tag string) string {
		name := strings.FieldsFunc(tag, func(r rune) bool { return strings.ContainsRune("</ >", r) })[0]
		switch {
		case len(open) > maxBlockNesting:
			return ""
		case !strings.HasPrefix(tag, "</"):
			open = append(open, name)
			return tag
		case len(open) == 0 || open[len(open)-1] != name:
			return ""
		}
		open = open[:len(open)-1]
		return tag
	})
	for _, name := range slices.Backward(open) {
		closed = append(closed, "</"+name+">")
	}
	return text + strings.Join(closed, "")
}
