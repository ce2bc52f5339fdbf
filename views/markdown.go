package views

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Document is Markdown of the site's own documentation: its headings have the ids that anchor gives them.
func Document(source string, anchor func(heading string) string) (templ.Component, error) {
	html, err := markdown(source, prose{anchor: anchor})
	return templ.Raw(html), err
}

// markdown turns a text into HTML that cannot script a page: raw HTML in it is dropped but for what folds, and what is left goes
// through bluemonday's list for text written by strangers. Its headings are one level lower than written, because the page
// has its own first one.
func markdown(source string, of prose) (string, error) {
	if of.anchor == nil && len(source) > mostDescription { // the site's own documentation may be longer than a stranger's text
		return asWritten(source), nil
	}
	md := gfm()
	pc := parser.NewContext()
	pc.Set(linesKey, of.lines)
	doc := md.Parser().Parse(text.NewReader([]byte(source)), parser.WithContext(pc))
	links := 0 // bytes of addresses, which references repeat
	var pictures []*ast.Image
	math := newMathematics()
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+1, 6)
			if of.anchor != nil {
				n.SetAttributeString("id", []byte(of.anchor(string(n.Lines().Value([]byte(source))))))
			}
		case *formula:
			tex := &strings.Builder{}
			for part := n.FirstChild(); part != nil; part = part.NextSibling() {
				tex.Write(part.(*ast.Text).Segment.Value([]byte(source)))
			}
			n.html = math.add(strings.TrimSpace(tex.String()), n.display)
		case *ast.Link:
			links += len(n.Destination) + len(n.Title)
		case *ast.Image:
			links += len(n.Destination) + len(n.Title)
			pictures = append(pictures, n)
		}
		if links > mostHTML {
			return ast.WalkStop, errTooLong
		}
		return ast.WalkContinue, nil
	})
	if of.comment {
		for _, picture := range pictures {
			describePicture(picture)
		}
	}
	var buf boundedBuffer
	if err == nil {
		err = md.Renderer().Render(&buf, []byte(source), doc)
	}
	if errors.Is(err, errTooLong) {
		return asWritten(source), nil
	}
	if err != nil {
		return "", fmt.Errorf("markdown: %w", err)
	}
	safe := untrusted().SanitizeBytes(buf.Bytes())
	safe = emptyHeader.ReplaceAll(safe, []byte("<td></td>"))
	return math.place(scrolls.ReplaceAllString(balanced(string(safe)), `<$1 tabindex="0">`)), nil
}

// prose says what Markdown is for.
type prose struct {
	anchor  func(heading string) string // gives headings their ids; nil: they have none
	comment bool                        // anyone may have written it
	lines   string                      // texts like #L12 become links to the lines of a source at this address, unless it is empty
}

// describePicture puts a picture's description in its place. Readers' browsers would ask the site for each picture, with the
// readers' own sessions.
func describePicture(n *ast.Image) {
	for child := n.FirstChild(); child != nil; child = n.FirstChild() {
		n.Parent().InsertBefore(n.Parent(), n, child)
	}
	n.Parent().RemoveChild(n.Parent(), n)
}

// asWritten shows a description that is too large for Markdown.
func asWritten(source string) string {
	return `<pre tabindex="0">` + templ.EscapeString(strings.ToValidUTF8(source, "\uFFFD")) + "</pre>"
}

// Description is Markdown of a text that many readers ask for.
func (h *Highlighter) Description(source string) (templ.Component, error) {
	return h.prose(source, prose{})
}

// Comment is Markdown of a comment: without pictures, bounded, and with links to lines of a source, #L12 of the address lines.
func (h *Highlighter) Comment(source, lines string) (templ.Component, error) {
	return h.prose(source, prose{comment: true, lines: lines})
}

func (h *Highlighter) prose(source string, of prose) (templ.Component, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "description\x00%t\x00%s\x00%s", of.comment, of.lines, source))
	if html, ok := h.done.Get(key); ok {
		return templ.Raw(html), nil
	}
	html, err := markdown(source, of)
	if of.comment && len(html) > mostGrowth*(utf8.RuneCountInString(source)+100) {
		html = asWritten(source)
	}
	if err == nil {
		h.done.Put(key, html, int64(len(html)))
	}
	return templ.Raw(html), err
}

// gfm and untrusted are made once, for they compile hundreds of regular expressions; both may be used by several goroutines.
var (
	gfm = sync.OnceValue(func() goldmark.Markdown {
		md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(extras{}, 0)))) // for its renderers
		md.SetParser(boundedParser())
		return md
	})
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
