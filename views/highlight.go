package views

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"warpboard/internal/cache"
	"warpboard/views/syntax"
)

// MaxHighlightedBytes limits the bytes that a page shows in color: a token adds about 25 bytes to a page, and may be a
// single byte.
const MaxHighlightedBytes = 256 << 10

// Limits of one page, so that files of many megabytes do not make it as large.
const (
	maxNumberedLines = 20_000  // numbered lines; each number takes 130 bytes of the page
	maxShownBytes    = 2 << 20 // bytes
)

// Highlighter colors source text with CSS classes and renders descriptions. It caches both. It is safe for concurrent
// use.
type Highlighter struct {
	cache          *cache.Cache[[32]byte, string]
	maxSourceBytes int
	languages      *syntax.Languages
}

// NewHighlighter returns a Highlighter with a cache of size bytes, which colors only the first most bytes of each page.
func NewHighlighter(size, most int) *Highlighter {
	return &Highlighter{cache.New[[32]byte, string](int64(size)), most, syntax.NewLanguages()}
}

// SourceLimiter colors the source files of one page within the limits of a page. It counts the bytes and lines that are
// shown so far.
type SourceLimiter struct {
	*Highlighter
	shownBytes, shownLines int // shown so far
}

// NewSourceLimiter returns a SourceLimiter for a new page.
func (h *Highlighter) NewSourceLimiter() *SourceLimiter { return &SourceLimiter{Highlighter: h} }

// ColorFile colors a file; its name determines the language. Line numbers are links #L1, #L2 …; prefix distinguishes
// the lines of several files on one page: #prefixL1.
func (p *SourceLimiter) ColorFile(name, prefix string, text []byte) SourceFile {
	file := SourceFile{Name: name, Size: int64(len(text))}
	if p.shownBytes += len(text); p.shownBytes > maxShownBytes {
		file.HTML = templ.Raw(codeBlockBegin + "This file is too large to be shown here. Download it to read it." +
			codeBlockEnd)
		return file
	}
	code := strings.ReplaceAll(strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\r\n", "\n"), "\r", "\n")
	p.shownLines += strings.Count(code, "\n")
	language, numbers := p.languages.LanguageOfFile(name), p.shownLines < maxNumberedLines
	if p.shownBytes > p.maxSourceBytes || !numbers {
		language = p.languages.LanguageOfFile("")
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\x00%t\x00%s\x00%s", language.Name, numbers, prefix, code))
	html, ok := p.cache.Get(key)
	if !ok {
		html = highlightCode(language, numbers, prefix, code)
		p.cache.Put(key, html, int64(len(html)))
	}
	file.HTML = templ.Raw(html)
	return file
}

func highlightCode(language *syntax.Language, numbers bool, prefix, text string) string {
	if !numbers {
		return codeBlockBegin + templ.EscapeString(text) + codeBlockEnd
	}
	page := sourceWriter{lineIDPrefix: templ.EscapeString(prefix)}
	page.Grow(4 * len(text))
	page.WriteString(codeBlockBegin)
	for class, token := range language.Tokens(text) {
		for line := range strings.Lines(token) {
			page.writeToken(class, line)
		}
	}
	page.endLine()
	page.WriteString(codeBlockEnd)
	return page.String()
}

const codeBlockBegin, codeBlockEnd = `<pre class="chroma"><code>`, "</code></pre>"

// sourceWriter writes tokens as HTML, with a span for each line.
type sourceWriter struct {
	strings.Builder
	lineIDPrefix string
	lines        int
	lineOpen     bool // the element of a line has not been closed yet
}

// writeToken writes a token, or the part of it in the current line.
func (w *sourceWriter) writeToken(class syntax.TokenClass, text string) {
	if !w.lineOpen {
		w.beginLine()
	}
	if class == syntax.PlainToken {
		w.WriteString(templ.EscapeString(text))
	} else {
		w.write(`<span class="`, string(class), `">`, templ.EscapeString(text), `</span>`)
	}
	if strings.HasSuffix(text, "\n") {
		w.endLine()
	}
}

// beginLine writes the number of a line as a link, which the tab key skips because a page has hundreds.
func (w *sourceWriter) beginLine() {
	w.lines++
	w.lineOpen = true
	number := strconv.Itoa(w.lines)
	anchor := w.lineIDPrefix + "L" + number
	w.write(`<span class="line"><span class="ln" id="`, anchor, `"><a class="lnlinks" tabindex="-1" href="#`, anchor, `">`, number, `</a></span><span class="cl">`)
}

func (w *sourceWriter) write(parts ...string) {
	for _, part := range parts {
		w.WriteString(part)
	}
}

func (w *sourceWriter) endLine() {
	if w.lineOpen {
		w.WriteString("</span></span>")
		w.lineOpen = false
	}
}
