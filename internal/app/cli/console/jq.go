package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/itchyny/gojq"
)

// Filter is the expression of --jq; a nil Filter prints unfiltered JSON.
type Filter struct{ code *gojq.Code }

// NewFilter compiles a jq expression, which cannot access the environment or files.
func NewFilter(expression string) (*Filter, error) {
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, UsageError("--jq %q: %w", expression, err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, UsageError("--jq %q: %w", expression, err)
	}
	return &Filter{code}, nil
}

// Print prints a response of the API as JSON, or the results of the filter, each on a line: texts without quotes, other
// values as JSON.
func (f *Filter) Print(to io.Writer, answer any) error {
	if f == nil {
		return PrintJSON(to, answer)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	var input any
	if err := json.Unmarshal(text, &input); err != nil {
		return err
	}
	out := f.code.Run(input)
	for {
		value, more := out.Next()
		if !more {
			return nil
		}
		switch value := value.(type) {
		case error:
			return UsageError("--jq: %w", value)
		case string:
			if IsTerminal(to) {
				value = CleanText(value)
			}
			fmt.Fprintln(to, value)
		default:
			var line bytes.Buffer
			enc := json.NewEncoder(&line)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(value); err != nil {
				return err
			}
			fmt.Fprint(to, line.String())
		}
	}
}
