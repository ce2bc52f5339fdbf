package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/itchyny/gojq"
)

// JQFilter is the expression of --jq; a nil JQFilter prints unfiltered JSON.
type JQFilter struct{ compiled *gojq.Code }

// NewJQFilter compiles a jq expression, which cannot access the environment or files.
func NewJQFilter(expression string) (*JQFilter, error) {
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, NewUsageError("--jq %q: %w", expression, err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, NewUsageError("--jq %q: %w", expression, err)
	}
	return &JQFilter{code}, nil
}

// Print prints a response of the API as JSON, or the results of the filter, each on a line: texts without quotes, other
// values as JSON.
func (f *JQFilter) Print(to io.Writer, answer any) error {
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
	out := f.compiled.Run(input)
	for {
		value, more := out.Next()
		if !more {
			return nil
		}
		switch value := value.(type) {
		case error:
			return NewUsageError("--jq: %w", value)
		case string:
			if IsTerminal(to) {
				value = RemoveControlCharacters(value)
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
