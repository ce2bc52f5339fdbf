package views

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"
	"strings"

	"github.com/a-h/templ"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"

	"warpboard/cache"
)

// MostColoured is the size up to which a site colours text: colours cost about 50 ms per 300 lines.
const MostColoured = 256 << 10

// maxLines is the number of lines from which text is shown without numbers too: each costs 130 bytes of
// page, and a submission may be a million of them.
const maxLines = 20_000

// Highlighter colours source text by classes and remembers what it has done. It may be used by
// many requests at once.
type Highlighter struct {
	done *cache.Cache[[32]byte, string]
	most int
}

// NewHighlighter returns a highlighter that remembers this many bytes of what it has made, and shows text of more than most
// bytes without colours.
func NewHighlighter(room, most int) *Highlighter {
	return &Highlighter{cache.New[[32]byte, string](int64(room)), most}
}

// Source colours a file by the language that its name tells, with linkable line numbers #L1, #L2 …;
// prefix keeps the lines of several files on one page apart: #prefixL1.
func (h *Highlighter) Source(name, prefix string, text []byte) (SourceFile, error) {
	file := SourceFile{Name: name, Size: int64(len(text))}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", path.Ext(name), prefix, text))
	if html, ok := h.done.Get(key); ok {
		file.HTML = templ.Raw(html)
		return file, nil
	}
	html, err := h.colour(name, prefix, strings.ToValidUTF8(string(text), "\uFFFD"))
	if err != nil {
		return SourceFile{}, fmt.Errorf("highlight %s: %w", name, err)
	}
	h.done.Put(key, html, int64(len(html)))
	file.HTML = templ.Raw(html)
	return file, nil
}

func (h *Highlighter) colour(name, prefix, text string) (string, error) {
	if strings.Count(text, "\n") >= maxLines {
		return `<pre class="chroma"><code>` + templ.EscapeString(text) + "</code></pre>", nil
	}
	lexer := lexers.Fallback
	if len(text) <= h.most {
		lexer = lexerOf(name)
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, text)
	if err != nil {
		return "", err
	}
	format := html.New(html.WithClasses(true), html.WithLineNumbers(true), html.WithLinkableLineNumbers(true, prefix+"L"))
	var buf bytes.Buffer
	if err := format.Format(&buf, noStyle, tokens); err != nil {
		return "", err
	}
	return strings.ReplaceAll(buf.String(), lineLink, lineLink+` tabindex="-1"`), nil
}

// noStyle: colours are the stylesheet's, by class. Chroma's own styles would be read at the start of every process.
var noStyle = chroma.MustNewStyle("none", nil)

// lineLink begins the link of a line's number. There are hundreds on a page: none is a stop on the way of who uses
// the keyboard.
const lineLink = `<a class="lnlinks"`

// lexerOf finds the language; chroma knows CUDA only as C++. What a name matches it looks for in all patterns of all languages,
// which takes as long as colouring 40 lines: the names of most files are known here.
func lexerOf(name string) chroma.Lexer {
	switch path.Ext(name) {
	case ".cu", ".cuh", ".hpp", ".h", ".cc", ".cpp":
		return lexers.Get("cpp")
	case ".py":
		return lexers.Get("python")
	}
	if lexer := lexers.Match(path.Base(name)); lexer != nil {
		return lexer
	}
	return lexers.Fallback
}
