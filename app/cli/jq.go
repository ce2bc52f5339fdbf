package cli

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/itchyny/gojq"
)

// filter is the expression of --jq; nil: none was given.
type filter struct{ code *gojq.Code }

// newFilter compiles a jq expression. It sees neither the environment nor other files.
func newFilter(expression string) (*filter, error) {
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, Usage("--jq %q: %w", expression, err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, Usage("--jq %q: %w", expression, err)
	}
	return &filter{code}, nil
}

// printJSON prints an answer as the API has it, or what --jq makes of it: texts as they are, all else as JSON, each in a line.
func (c *connection) printJSON(answer any) error {
	if c.filter == nil {
		return PrintJSON(c.env.Stdout, answer)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	var input any
	if err := json.Unmarshal(text, &input); err != nil {
		return err
	}
	out := c.filter.code.Run(input)
	for {
		value, more := out.Next()
		if !more {
			return nil
		}
		switch value := value.(type) {
		case error:
			return Usage("--jq: %w", value)
		case string:
			if isTerminal(c.env.Stdout) {
				value = clean(value)
			}
			fmt.Fprintln(c.env.Stdout, value)
		default:
			var line bytes.Buffer
			enc := json.NewEncoder(&line)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(value); err != nil {
				return err
			}
			fmt.Fprint(c.env.Stdout, line.String())
		}
	}
}
