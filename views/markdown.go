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

// RenderDocumentation renders Markdown of the documentation of the site. anchor returns the ID of a heading.
func RenderDocumentation(source string, anchor func(heading string) string) (templ.Component, error) {
	html, err := renderSafeMarkdown(source, markdownOptions{headingID: anchor})
	return templ.Raw(html), err
}

// renderSafeMarkdown converts a text to HTML that cannot run scripts: raw HTML is removed except for details and
// summary, and bluemonday filters the result with its list for untrusted text. Headings are one level lower than in the
// text, because each page has a heading of its own.
func renderSafeMarkdown(source string, of markdownOptions) (string, error) {
	// documentation of the site may be longer than untrusted text
	if of.headingID == nil && len(source) > maxDescriptionBytes {
		return descriptionAsText(source), nil
	}
	md := githubMarkdown()
	pc := parser.NewContext()
	pc.Set(lineCountKey, of.sourceURL)
	doc := md.Parser().Parse(text.NewReader([]byte(source)), parser.WithContext(pc))
	links := 0 // total bytes of link addresses; references can repeat long ones
	var pictures []*ast.Image
	math := newFormulaSet()
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+1, 6)
			if of.headingID != nil {
				n.SetAttributeString("id", []byte(of.headingID(string(n.Lines().Value([]byte(source))))))
			}
		case *formula:
			tex := &strings.Builder{}
			for part := n.FirstChild(); part != nil; part = part.NextSibling() {
				tex.Write(part.(*ast.Text).Segment.Value([]byte(source)))
			}
			n.insertedHTML = math.addFormula(strings.TrimSpace(tex.String()), n.isOnOwnLine)
		case *ast.Link:
			links += len(n.Destination) + len(n.Title)
		case *ast.Image:
			links += len(n.Destination) + len(n.Title)
			pictures = append(pictures, n)
		}
		if links > maxHTMLBytes {
			return ast.WalkStop, errTextTooLong
		}
		return ast.WalkContinue, nil
	})
	if of.untrusted {
		for _, picture := range pictures {
			replacePicture(picture)
		}
	}
	var buf limitedHTMLBuffer
	if err == nil {
		err = md.Renderer().Render(&buf, []byte(source), doc)
	}
	if errors.Is(err, errTextTooLong) {
		return descriptionAsText(source), nil
	}
	if err != nil {
		return "", fmt.Errorf("markdown: %w", err)
	}
	safe := untrustedPolicy().SanitizeBytes(buf.Bytes())
	safe = emptyTableHeader.ReplaceAll(safe, []byte("<td></td>"))
	return math.insertFormulas(scrollableTag.ReplaceAllString(balanceFoldTags(string(safe)), `<$1 tabindex="0">`)), nil
}

// markdownOptions has the options for rendering Markdown.
type markdownOptions struct {
	headingID func(heading string) string // returns the IDs of headings; nil for no IDs
	untrusted bool                        // untrusted text by anyone
	sourceURL string                      // address of a source to whose lines texts such as #L12 link; may be empty
}

// replacePicture replaces a picture by its alternative text. Otherwise the browser of each reader would request the
// picture from another site.
func replacePicture(n *ast.Image) {
	for child := n.FirstChild(); child != nil; child = n.FirstChild() {
		n.Parent().InsertBefore(n.Parent(), n, child)
	}
	n.Parent().RemoveChild(n.Parent(), n)
}

// descriptionAsText shows a description that exceeds the limits for Markdown as text.
func descriptionAsText(source string) string {
	return `<pre tabindex="0">` + templ.EscapeString(strings.ToValidUTF8(source, "\uFFFD")) + "</pre>"
}

// RenderDescription renders and caches Markdown that many readers request.
func (h *Highlighter) RenderDescription(source string) (templ.Component, error) {
	return h.renderMarkdown(source, markdownOptions{})
}

// RenderComment renders the Markdown of a comment, without pictures. References such as #L12 become links to lines of
// the source at the URL lines.
func (h *Highlighter) RenderComment(source, lines string) (templ.Component, error) {
	return h.renderMarkdown(source, markdownOptions{untrusted: true, sourceURL: lines})
}

func (h *Highlighter) renderMarkdown(source string, of markdownOptions) (templ.Component, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "description\x00%t\x00%s\x00%s", of.untrusted, of.sourceURL, source))
	if html, ok := h.cache.Get(key); ok {
		return templ.Raw(html), nil
	}
	html, err := renderSafeMarkdown(source, of)
	if of.untrusted && len(html) > maxHTMLGrowth*(utf8.RuneCountInString(source)+100) {
		html = descriptionAsText(source)
	}
	if err == nil {
		h.cache.Put(key, html, int64(len(html)))
	}
	return templ.Raw(html), err
}

// githubMarkdown and untrustedPolicy are created once, because they compile hundreds of regular expressions; both are
// safe for concurrent use.
var (
	githubMarkdown = sync.OnceValue(func() goldmark.Markdown {
		// The extensions only provide renderers here; boundedParser replaces their parsers.
		md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(rawHTMLRenderer{}, 0))))
		md.SetParser(boundedParser())
		return md
	})
	untrustedPolicy = sync.OnceValue(bluemonday.UGCPolicy)
)

// scrollableTag matches elements that may be wider than a phone and therefore must be reachable by keyboard.
var scrollableTag = regexp.MustCompile(`<(pre|table)>`)

// emptyTableHeader matches the empty header cell in the corner of a table with row and column headers.
var emptyTableHeader = regexp.MustCompile(`<th[^>]*></th>`)

// inlineMarkdown renders a sentence of the site; text in backquotes becomes code.
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
