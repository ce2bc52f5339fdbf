package profiles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"

	"github.com/a-h/templ"
)

// mostDrawn is how many bytes of HTML are kept; a profile has some 60 kB, a comparison 90.
const mostDrawn = 32 << 20

// drawn returns charts that are drawn once for equal requests. made has everything that they depend on, with reports and
// sources as the hashes of their files, and the viewer's rights. make draws charts that are not cached. So nothing in the
// cache is ever out of date. As many are drawn at once as there are cores. If made has no JSON form (an infinite number),
// charts are drawn each time.
func (p *Profiles) drawn(made any, make func(context.Context) (templ.Component, error)) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		text, err := json.Marshal(made)
		key := sha256.Sum256(text)
		if html, ok := p.charts.Get(key); ok && err == nil {
			_, err := w.Write(html)
			return err
		}
		select {
		case p.drawing <- struct{}{}:
			defer func() { <-p.drawing }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if html, ok := p.charts.Get(key); ok && err == nil { // others have waited for the same
			_, err := w.Write(html)
			return err
		}
		component, failed := make(ctx)
		if failed != nil {
			return failed
		}
		var html bytes.Buffer
		if failed := component.Render(ctx, io.MultiWriter(w, &html)); failed != nil || err != nil { // w bounds what is kept, too
			return failed
		}
		p.charts.Put(key, html.Bytes(), int64(html.Len()))
		return nil
	})
}
