package views

import (
	"bytes"
	"fmt"

	"github.com/a-h/templ"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// Markdown turns a description into HTML that cannot script a page: raw HTML in it is dropped by
// goldmark, and what is left goes through bluemonday's list for text written by strangers.
func Markdown(text string) (templ.Component, error) {
	var buf bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(text), &buf); err != nil {
		return nil, fmt.Errorf("markdown: %w", err)
	}
	policy := bluemonday.UGCPolicy()
	policy.RequireNoFollowOnLinks(true)
	return templ.Raw(string(policy.SanitizeBytes(buf.Bytes()))), nil
}
