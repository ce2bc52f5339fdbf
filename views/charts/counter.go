package charts

import (
	"context"
	"io"
	"regexp"

	"github.com/a-h/templ"
)

// partEnd is where the name of a counter may be broken: after its underscores and points.
var partEnd = regexp.MustCompile(`_+|\.`)

// counter writes the name of a counter so that a narrow column can break it, and a copy of it has no other character.
func counter(name string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, partEnd.ReplaceAllString(templ.EscapeString(name), "$0<wbr>"))
		return err
	})
}
