package views

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/a-h/templ"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Markdown turns a description into HTML that cannot script a page: raw HTML in it is dropped by
// goldmark, and what is left goes through bluemonday's list for text written by strangers. Its
// headings are one level lower than written, because the page has its own first one.
func Markdown(source string) (templ.Component, error) {
	md := gfm()
	doc := md.Parser().Parse(text.NewReader([]byte(source)))
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering {
			h.Level = min(h.Level+1, 6)
		}
		return ast.WalkContinue, nil
	})
	var buf bytes.Buffer
	if err == nil {
		err = md.Renderer().Render(&buf, []byte(source), doc)
	}
	if err != nil {
		return nil, fmt.Errorf("markdown: %w", err)
	}
	safe := untrusted().SanitizeBytes(buf.Bytes())
	safe = emptyHeader.ReplaceAll(safe, []byte("<td></td>"))
	return templ.Raw(scrolls.ReplaceAllString(string(safe), `<$1 tabindex="0">`)), nil
}

// gfm and untrusted are made once, for they compile hundreds of regular expressions; both may be used by several goroutines.
var (
	gfm       = sync.OnceValue(func() goldmark.Markdown { return goldmark.New(goldmark.WithExtensions(extension.GFM)) })
	untrusted = sync.OnceValue(bluemonday.UGCPolicy)
)

// scrolls is what may be wider than a phone: the keyboard must reach it.
var scrolls = regexp.MustCompile(`<(pre|table)>`)

// emptyHeader is the corner of a table that has headers on two sides: a header of nothing.
var emptyHeader = regexp.MustCompile(`<th[^>]*></th>`)

// inlineMarkdown shows one of the site's own sentences, with its code as code.
func inlineMarkdown(sentence string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		for i, part := range strings.Split(sentence, "`") {
			text := templ.EscapeString(part)
			if i%2 == 1 {
				text = "<code>" + text + "</code>"
			}
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		}
		return nil
	})
}
