package charts

import (
	"context"
	"io"
	"regexp"

	"github.com/a-h/templ"
)

// counterBreakPattern matches the positions at which the name of a counter may be broken: after underscores and dots.
var counterBreakPattern = regexp.MustCompile(`_+|\.`)

// counterName shows the name of a counter with invisible break opportunities, which are not copied with the text.
func counterName(name string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, counterBreakPattern.ReplaceAllString(templ.EscapeString(name), "$0<wbr>"))
		return err
	})
}
