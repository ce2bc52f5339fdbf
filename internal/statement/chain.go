package statement

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// longestLine bounds one line of an exported chain, in bytes.
const longestLine = 32 << 20

// Checked is the result of checking an exported chain.
type Checked struct {
	First, Last int64  // numbers of its statements; 0 of an empty chain
	Head        string // hash of the last payload
}

// CheckChain reads an exported chain, an envelope per line, and fails at the first line that is not signed by one of
// the keys or does not follow the one before it. The first line may have any number: earlier ones are not checked.
func (k Keys) CheckChain(ctx context.Context, chain io.Reader) (Checked, error) {
	var c Checked
	lines := bufio.NewScanner(chain)
	lines.Buffer(nil, longestLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		e, err := ReadEnvelope(lines.Bytes())
		if err != nil {
			return c, fmt.Errorf("line %d: %w", n, err)
		}
		s, payload, _, err := k.Verify(ctx, e)
		if err == nil {
			err = c.follow(s.Result.Chain)
		}
		if err != nil {
			return c, fmt.Errorf("line %d: %w", n, err)
		}
		if c.First == 0 {
			c.First = s.Result.Chain.Number
		}
		c.Last, c.Head = s.Result.Chain.Number, Hash(payload)
	}
	return c, lines.Err()
}

// follow checks that a statement is the next one.
func (c Checked) follow(l Link) error {
	switch {
	case l.Number < 1 || (l.Number == 1) != (l.Previous == ""):
		return errors.New("its number and its link do not belong together")
	case c.First == 0:
		return nil
	case l.Number != c.Last+1:
		return fmt.Errorf("statement %d follows statement %d: those between them are missing", l.Number, c.Last)
	case l.Previous != c.Head:
		return fmt.Errorf("statement %d does not follow this statement %d but another: one of them was changed", l.Number, c.Last)
	}
	return nil
}
